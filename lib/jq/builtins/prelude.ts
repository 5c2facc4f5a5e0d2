/** Built-in functions that are written in jq. Parsed when first used. */
import type { JqDefinition } from "../ast.ts";
import { parseDefinitions } from "../parser/parser.ts";

const SOURCES = [
  `def _recurse: def r: ., (.[]? | r); r;`,
  `def recurse(f): def r: ., (f | r); r;`,
  `def recurse(f; cond): def r: ., (f | select(cond) | r); r;`,
  `def while(cond; update): def _while: if cond then ., (update | _while) else empty end; _while;`,
  `def until(cond; update): def _until: if cond then . else update | _until end; _until;`,
  `def repeat(f): def _repeat: ., (f | _repeat); _repeat;`,
  `def first: .[0];`,
  `def last: .[-1];`,
  `def nth($n): .[$n];`,
  `def nth($n; f): if $n < 0 then error("nth doesn't support negative indices") else first(skip($n; f)) end;`,
  `def values: select(. != null);`,
  `def nulls: select(. == null);`,
  `def booleans: select(type == "boolean");`,
  `def numbers: select(type == "number");`,
  `def strings: select(type == "string");`,
  `def arrays: select(type == "array");`,
  `def objects: select(type == "object");`,
  `def iterables: select(type | . == "array" or . == "object");`,
  `def scalars: select(type | . != "array" and . != "object");`,
  `def finites: select(isinfinite or isnan | not);`,
  `def normals: select(isnormal);`,
  `def isvalid(f): try (f | true) catch false;`,
  `def any: any(.[]; .);`,
  `def all: all(.[]; .);`,
  `def in(xs): . as $x | xs | has($x);`,
  `def inside(xs): . as $x | xs | contains($x);`,
  `def IN(s): any(s == .; .);`,
  `def IN(src; s): any(src == s; .);`,
  `def INDEX(stream; f): reduce (stream | . as $row | f | [$row, tostring]) as [$row, $key] ({}; .[$key] = $row);`,
  `def INDEX(f): INDEX(.[]; f);`,
  `def JOIN($idx; f): [.[] | [., $idx[f]]];`,
  `def JOIN($idx; stream; f): stream | [., $idx[f]];`,
  `def JOIN($idx; stream; f; join): stream | [., $idx[f]] | join;`,
  `def with_entries(f): to_entries | map(f) | from_entries;`,
  `def sort_by(f): _sort_by(map([f]));`,
  `def group_by(f): _group_by(map([f]));`,
  `def unique_by(f): _unique_by(map([f]));`,
  `def min_by(f): _min_by(map([f]));`,
  `def max_by(f): _max_by(map([f]));`,
  `def paths: path(..) | select(length > 0);`,
  `def paths(node_filter): path(.. | select(node_filter)) | select(length > 0);`,
  `def leaf_paths: paths(scalars);`,
  `def pick(pathexps): . as $top | reduce path(pathexps) as $p (null; setpath($p; $top | getpath($p)));`,
  `def walk(f): def w: if type == "object" then map_values(w) elif type == "array" then map(w) else . end | f; w;`,
  `def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $w | [$x] + $w end;`,
  `def combinations(n): . as $dot | [range(n)] | map($dot) | combinations;`,
  `def tostream: path(def r: (.[]? | r), .; r) as $p | getpath($p) | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);`,
  `def fromstream(f): { x: null, e: false } as $init
    | foreach f as $i ($init;
        if .e then $init else . end
        | if $i | length == 2
          then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1])
          else setpath(["e"]; $i[0] | length == 1) end;
        if .e then .x else empty end);`,
  `def truncate_stream(stream): . as $n | null | stream | . as $input
    | if (.[0] | length) > $n then setpath([0]; .[0][$n:]) else empty end;`,
  `def match($re): match($re; null);`,
  `def match($re; $flags): _match($re; $flags);`,
  `def test($re): test($re; null);`,
  `def capture($re): capture($re; null);`,
  `def capture($re; $flags): match($re; $flags) | _named;`,
  `def scan($re): scan($re; null);`,
  `def scan($re; $flags): match($re; ($flags // "") + "g")
    | if (.captures | length) > 0 then [.captures[].string] else .string end;`,
  `def splits($re): splits($re; null);`,
  `def splits($re; $flags): split($re; $flags) | .[];`,
  `def sub($re; str): sub($re; str; "");`,
  `def sub($re; str; $flags): . as $in
    | reduce _pieces($re; $flags) as $piece ([];
        if $piece.captures == null then
          if length == 0 then [$in] else map(. + $piece.gap) end
        else
          . as $results
          | [$piece.captures | str] as $inserts
          | reduce range($inserts | length) as $i ($results; .[$i] += $piece.gap + $inserts[$i])
        end)
    | .[];`,
  `def split($re; $flags): [_split($re; $flags) | .gap];`,
  `def gsub($re; str): sub($re; str; "g");`,
  `def gsub($re; str; $flags): sub($re; str; $flags + "g");`,
  `def ascii: [.] | implode;`,
  `def todate: strftime("%Y-%m-%dT%H:%M:%SZ");`,
  `def todateiso8601: todate;`,
  `def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;`,
  `def fromdate: fromdateiso8601;`,
  `def date: todate;`,
  `def dateadd(u; n): . + n;`,
  `def datesub(u; n): . - n;`,
];

const HEAD = /^def ([A-Za-z_]\w*)(?:\(([^)]*)\))?:/;

/** Source by name and number of arguments. */
const BY_KEY = new Map(SOURCES.map((source) => {
  const [, name, params] = HEAD.exec(source)!;
  return [`${name}/${params === undefined ? 0 : params.split(";").length}`, source];
}));

const parsed = new Map<string, JqDefinition>();

/** The definition of a function; undefined when it is not written in jq. */
export function preludeDefinition(key: string): JqDefinition | undefined {
  const source = BY_KEY.get(key);
  if (source === undefined) return undefined;
  let definition = parsed.get(key);
  // The same each time, so that it can be kept beyond a run.
  if (definition === undefined) parsed.set(key, definition = parseDefinitions(source)[0]!);
  return definition;
}

/** Names and numbers of arguments. */
export function preludeKeys(): string[] {
  return [...BY_KEY.keys()];
}
