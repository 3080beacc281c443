//! Diagnostics about test files and failed expectations.

diag::codes! {
    INVALID_TEST = Error "invalid-test": "a test file is not valid";
    TEST_FAILED = Error "test-failed": "an expectation of a test is not met";
}
