/** What runs in a container around the commands, in plain POSIX `sh`: an image need not have more. */

/** Where the container keeps which process each command is; in memory. */
export const NOTES = "/run/lait";

/**
 * The container's own process: says that it runs, and lives as long as its standard input is open. The shell stays, so
 * that the ends of orphans are waited for.
 */
export const KEEP_ALIVE: string = String.raw`: > ${NOTES}/commands && echo ready || exit
cat > /dev/null
exit 0`;

/**
 * Starts a command. $1 its id, $2 the root, $3 its directory, $4 `-i` for an empty environment, $5 how many variables
 * there are; then their names, then the command. Their values are in LAIT_VARIABLE_0, …: the engine's program, through
 * which they come, has an environment of its own. A command that cannot start says so behind its id, with status 127.
 */
export const START: string = String.raw`
id=$1 root=$2 directory=$3 clear=$4 count=$5
shift 5
problem() { echo "$id: $1" >&2; exit 127; }
echo "$id $$" >> ${NOTES}/commands
# Its end may have been asked for before it began; whichever is noted first is seen by the other.
[ ! -e "${NOTES}/$id" ] || exit 143
cd "$directory" 2>/dev/null || problem "its working directory $directory is not there in the sandbox"
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
program=$1
shift
case $program in
  /*) ;;
  */*) program=$root/$program ;;
esac
case $program in
  */*) [ ! -e "$program" ] || { [ -f "$program" ] && [ -x "$program" ]; } || problem "it may not be executed in the sandbox" ;;
esac
command -v -- "$program" > /dev/null 2>&1 || problem "there is no such program in the sandbox"
set -- "$@" "$program"
while [ "$words" -gt 1 ]; do
  word=$1
  shift
  set -- "$@" "$word"
  words=$((words - 1))
done
exec env $clear "$@"
`;

/**
 * Ends a command by its id ($1): every process of its session, and every descendant that can still be found by parent
 * ids, asked first, then killed.
 */
export const END: string = String.raw`
: > "${NOTES}/$1"
leader=
while read -r id pid; do
  [ "$id" != "$1" ] || leader=$pid
done < ${NOTES}/commands
[ -n "$leader" ] || exit 0
rows() {
  for file in /proc/[0-9]*/stat; do
    IFS= read -r stat 2>/dev/null < "$file" || continue
    pid=${"$"}{stat%% *}
    set -- ${"$"}{stat##*) }
    [ "$1" = Z ] || echo "$pid $2 $4"
  done
}
found=" "
look() {
  table=$(rows) alive= before=x
  while [ "$before" != "$found" ]; do
    before=$found
    while read -r pid parent session; do
      case "$found" in *" $pid "*) continue ;; esac
      case "$found" in
        *" $parent "*) found="$found$pid " ;;
        *) [ "$session" != "$leader" ] && [ "$pid" != "$leader" ] || found="$found$pid " ;;
      esac
    done <<TABLE
$table
TABLE
  done
  while read -r pid parent session; do
    case "$found" in *" $pid "*) alive="$alive $pid" ;; esac
  done <<TABLE
$table
TABLE
}
look
[ -n "$alive" ] || exit 0
kill -TERM $alive 2>/dev/null
for tenth in 1 2 3 4 5; do
  look
  [ -n "$alive" ] || exit 0
  sleep 0.1
done
look
kill -KILL $alive 2>/dev/null
exit 0
`;
