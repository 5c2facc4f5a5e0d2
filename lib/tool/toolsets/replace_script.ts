/** The script by which a file of the sandbox is replaced. */

// The content comes by standard input into a file beside the target, which then takes the target's place. So there is
// never half a file, a link that appears in the target's place is replaced and not followed, and one program's end is
// all that can go wrong: the trap removes what it leaves. `cp -p` hands on mode and owner. Input that ends early, as it
// does when the turn is cancelled, is told by its size. $1 target, $2 bytes, $3 name of the file beside it.
/** The script; POSIX sh. */
export const REPLACE = String.raw`
nl='
'
target=$1
folder=${"$"}{target%/*}
mkdir -p "$folder/" || exit 1
real=$(cd -P "$folder/" && pwd -P && printf x) || exit 1
real=${"$"}{real%"$nl"x}
[ "$real" = "${"$"}{folder:-/}" ] || { echo 'a link appeared on the way to it' >&2; exit 1; }
[ ! -d "$target" ] || { echo 'it is a directory' >&2; exit 1; }
beside=$folder/$3
trap 'rm -f "$beside"' EXIT
trap 'exit 1' HUP INT TERM
if [ -f "$target" ] && [ ! -L "$target" ]; then cp -p "$target" "$beside" || exit 1; fi
cat > "$beside" || exit 1
[ $(($(wc -c < "$beside"))) -eq "$2" ] || { echo 'its content did not arrive whole' >&2; exit 1; }
mv -f "$beside" "$target"
`;
