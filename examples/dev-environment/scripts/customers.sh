# Writes CUSTOMERS rows of test data to dev/data/customers.csv; prints what it did as JSON.
set -eu
mkdir -p dev/data
{
    echo 'id,name,since'
    i=1
    while [ "$i" -le "$CUSTOMERS" ]; do
        printf '%d,Customer %03d,2026-%02d-01\n' "$i" "$i" $((i % 12 + 1))
        i=$((i + 1))
    done
} > dev/data/customers.csv
printf '{"rows": %d}\n' "$CUSTOMERS"
