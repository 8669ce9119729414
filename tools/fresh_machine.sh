#!/bin/sh
# Run the two commands of the README as on a fresh machine: a fresh clone of the last commit, an
# empty home, and a PATH with python3, g++, make, git and Debian's basic tools only.
# Usage: tools/fresh_machine.sh [FOLDER]; the clone stays in FOLDER/dynmeans, which must not exist.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder/bin" "$folder/home"
folder=$(cd "$folder" && pwd)
git clone --quiet "$source" "$folder/dynmeans"

# The packages python3, g++, make and git, and those without which Debian does not run.
programs="python3 g++ gcc cpp as ld ar ranlib nm objcopy strip make git
    sh bash env expr true false test [ sleep kill ps uname nproc getconf id whoami hostname tty stty date
    cat cp mv rm ln ls mkdir rmdir mktemp touch chmod chown df du stat install sync setpriv mount umount
    head tail cut tr sort uniq wc tee dirname basename readlink realpath pwd printf echo seq yes
    grep sed awk mawk find xargs diff cmp tar gzip gunzip"
for program in $programs; do
    found=$(command -v "$program" || true)
    case "$program:$found" in
        python3:*) found=$("$found" -c 'import sys; print(sys.executable)') ;;
        *:/*) ;;
        *) continue ;;
    esac
    ln -s "$found" "$folder/bin/$program"
done

cd "$folder/dynmeans"
# What names the package index of this machine stays; nothing else does.
run() {
    env -i HOME="$folder/home" PATH="$folder/bin" LANG=C.UTF-8 $(env | grep -E '^(PIP|SSL|REQUESTS)_[A-Z_]*=' || true) "$@"
}
began=$(date +%s)
run make demo
demo=$(($(date +%s) - began))
page=$(find . -name report.html -newer Makefile -not -path './.venv/*' | head -n 1)
grep -q 'id="trial"' "$page" || { echo "The page $page has no panel to try another scale." >&2; exit 1; }
# 90 s on two quiet cores; a busy machine may take twice as long.
[ "$demo" -le 180 ] || { echo "make demo took $demo s, more than 180 s." >&2; exit 1; }
run .venv/bin/dynmeans try -o "$folder/home/try.html"
echo "make demo: $demo s; the page has its panel, and dynmeans try works."
began=$(date +%s)
run make test
echo "make test: $(($(date +%s) - began)) s"
