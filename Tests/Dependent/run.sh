#!/usr/bin/env bash
# Builds a package that depends on Postern by URL and version, as other people's packages do, and runs it.
set -euo pipefail

cd "$(dirname "$0")/../.."
scratch=$(mktemp --directory)
trap 'rm -rf "$scratch"' EXIT

# A clone with a tag, of the files as they are now.
clone=$scratch/postern
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- --ignore-failed-read |
    (mkdir "$clone" && tar --extract --directory "$clone")
git -C "$clone" init --quiet
git -C "$clone" add --all
git -C "$clone" -c user.name=Test -c user.email=test@mail.test commit --quiet --message "A version"
git -C "$clone" tag 1.0.0

cp -r Tests/Dependent "$scratch/dependent"
# SwiftPM has other rules for packages on this machine, so it gets a URL, and git takes that from the clone.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=url.$clone.insteadOf GIT_CONFIG_VALUE_0=https://git.test/postern
# Without an index, which is for editors. SwiftPM remembers nothing of this version.
swift build --package-path "$scratch/dependent" --disable-index-store \
    --disable-dependency-cache --security-path "$scratch/security" </dev/null
output=$("$scratch/dependent/.build/debug/Dependent")
expected="HTTPEngine listens on true
PosternTesting answered 200"
[ "$output" = "$expected" ] || { printf 'Dependent said:\n%s\n' "$output" >&2; exit 1; }
printf '%s\n' "$output"
