#!/bin/sh
exec watch-agent --report-to "$server"
