/** What runs in a container around the commands, in plain POSIX `sh`: an image need not have more. */

/** The container's own process: says that it runs, and lives as long as its standard input is open. */
export const KEEP_ALIVE = String.raw`mkdir -p /tmp/.lait && echo ready && cat > /dev/null`;

/**
 * Starts a command. $1 its id, $2 its directory, $3 `-i` for an empty environment, $4 how many variables there are;
 * then their names, then the command. Their values are in LAIT_VARIABLE_0, …: the engine's program, through which they
 * come, has an environment of its own. A command that cannot start says so behind its id, with status 127.
 */
export const START = String.raw`
id=$1 directory=$2 clear=$3 count=$4
shift 4
echo $$ > "/tmp/.lait/$id"
cd "$directory" 2>/dev/null || { echo "$id: its working directory $directory is not there in the sandbox" >&2; exit 127; }
words=$(($# - count))
index=0
while [ "$index" -lt "$count" ]; do
  name=$1
  shift
  eval "value=\$LAIT_VARIABLE_$index"
  unset "LAIT_VARIABLE_$index"
  set -- "$@" "$name=$value"
  [ "$name" != PATH ] || PATH=$value
  index=$((index + 1))
done
command -v -- "$1" > /dev/null 2>&1 || { echo "$id: there is no such program in the sandbox" >&2; exit 127; }
while [ "$words" -gt 0 ]; do
  word=$1
  shift
  set -- "$@" "$word"
  words=$((words - 1))
done
exec env $clear "$@"
`;

/**
 * Ends a command by its id ($1): every process of its session, which those that it started are in, asked first, then
 * killed.
 */
export const END = String.raw`
IFS= read -r leader < "/tmp/.lait/$1" || exit 0
members() {
  for file in /proc/[0-9]*/stat; do
    IFS= read -r stat 2>/dev/null < "$file" || continue
    pid=${"$"}{stat%% *}
    set -- ${"$"}{stat##*) }
    [ "$4" != "$leader" ] || [ "$1" = Z ] || echo "$pid"
  done
}
kill -TERM $(members) 2>/dev/null || exit 0
for tenth in 1 2 3 4 5; do
  [ -n "$(members)" ] || exit 0
  sleep 0.1
done
kill -KILL $(members) 2>/dev/null
exit 0
`;
