/** Drawings of a workflow: Mermaid and DOT. Called workflows are not expanded. */
import { positionLabel, type Step, type WorkflowDefinition } from "./definition.ts";

type Shape = "box" | "diamond" | "ellipse";

interface Node {
  readonly id: string;
  readonly label: string;
  readonly shape: Shape;
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

interface Subgraph {
  readonly title: string;
  readonly nodes: string[];
}

/** Where a piece of the drawing is left, and what the way out is called. */
interface Exit {
  readonly from: string;
  readonly text: string;
}

const DIAMONDS: readonly string[] = ["group", "switch", "parallel", "for_each", "while", "until"];

/** The drawing of a workflow. */
export function drawWorkflow(definition: WorkflowDefinition, format: "mermaid" | "dot"): string {
  const graph = new Graph();
  const start = graph.node("start", "ellipse");
  const exits = graph.steps(definition.steps, [{ from: start, text: "" }]);
  const end = graph.node("end", "ellipse");
  graph.join(exits, end);
  return format === "mermaid" ? graph.mermaid() : graph.dot();
}

class Graph {
  readonly #nodes: Node[] = [];
  readonly #edges: Edge[] = [];
  readonly #subgraphs: Subgraph[] = [];
  /** The subgraph that nodes are put into. */
  #current: Subgraph | undefined;

  node(label: string, shape: Shape): string {
    const id = `n${this.#nodes.length + 1}`;
    this.#nodes.push({ id, label, shape });
    this.#current?.nodes.push(id);
    return id;
  }

  edge(from: string, to: string, text = ""): void {
    this.#edges.push({ from, to, text });
  }

  join(exits: readonly Exit[], to: string): void {
    for (const { from, text } of exits) this.edge(from, to, text);
  }

  within<T>(title: string, draw: () => T): T {
    const outer = this.#current;
    const subgraph: Subgraph = { title, nodes: [] };
    this.#subgraphs.push(subgraph);
    this.#current = subgraph;
    try {
      return draw();
    } finally {
      this.#current = outer;
    }
  }

  steps(steps: readonly Step[], entries: readonly Exit[]): readonly Exit[] {
    let exits = entries;
    for (const step of steps) exits = this.#step(step, exits);
    return exits;
  }

  #step(step: Step, entries: readonly Exit[]): readonly Exit[] {
    const { kind, body } = step;
    const label = [
      `[${positionLabel(step)}]`,
      kind.name,
      ...kind.detail(body),
      ...(step.when === undefined ? [] : [`when: ${step.when.source}`]),
    ].join("\n");
    const ends = kind.name === "stop" || kind.name === "break";
    const node = this.node(label, ends ? "ellipse" : DIAMONDS.includes(kind.name) ? "diamond" : "box");
    this.join(entries, node);
    const exits = ends ? [] : [...this.#body(step, node)];
    if (step.onError !== undefined) {
      const handled = this.within(
        `${positionLabel(step)}: on_error`,
        () => this.steps(step.onError!, [{ from: node, text: "on_error" }]),
      );
      exits.push(...handled);
    }
    // A step that is skipped is passed by.
    if (step.when !== undefined) exits.push(...entries);
    return exits;
  }

  #body(step: Step, node: string): readonly Exit[] {
    const { kind, body } = step;
    const bodies = kind.bodies(body);
    const title = `[${positionLabel(step)}]`;
    switch (kind.name) {
      case "group":
        return this.within(`${title} group`, () => this.steps(bodies[0]!.steps, [{ from: node, text: "" }]));
      case "switch": {
        const cases = (body as { cases: readonly { when: { source: string } }[] }).cases;
        return bodies.flatMap(({ title: name, steps }, index) => {
          const when = cases[index]?.when.source;
          const text = when === undefined ? "else" : `case ${index + 1}: ${when}`;
          return this.within(`${title} ${name}`, () => this.steps(steps, [{ from: node, text }]));
        });
      }
      case "parallel": {
        const join = this.node("join", "diamond");
        for (const { title: name, steps } of bodies) {
          const exits = this.within(name, () => this.steps(steps, [{ from: node, text: "" }]));
          this.join(exits, join);
        }
        return [{ from: join, text: "" }];
      }
      case "for_each":
      case "while":
      case "until": {
        const each = kind.name === "for_each";
        const inside = this.within(
          `${title} ${each ? "for_each" : "loop"} body`,
          () => this.steps(bodies[0]!.steps, [{ from: node, text: each ? "per item" : "iterate" }]),
        );
        for (const { from } of inside) this.edge(from, node, each ? "next item" : "next iteration");
        return [{ from: node, text: "" }];
      }
      default:
        return [{ from: node, text: "" }];
    }
  }

  mermaid(): string {
    const text = (value: string) => value.replaceAll('"', "'").replaceAll("\n", "<br/>");
    const shapes = { box: ["[", "]"], diamond: ["{", "}"], ellipse: ["((", "))"] } as const;
    const lines = ["flowchart TD"];
    for (const { id, label, shape } of this.#nodes) {
      const [open, close] = shapes[shape];
      lines.push(`  ${id}${open}"${text(label)}"${close}`);
    }
    for (const [index, { title, nodes }] of this.#subgraphs.entries()) {
      lines.push(`  subgraph sg${index + 1}["${text(title)}"]`, ...nodes.map((id) => `    ${id}`), "  end");
    }
    for (const edge of this.#edges) {
      lines.push(
        edge.text === "" ? `  ${edge.from} --> ${edge.to}` : `  ${edge.from} -->|"${text(edge.text)}"| ${edge.to}`,
      );
    }
    return lines.join("\n");
  }

  dot(): string {
    const text = (value: string) =>
      value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').split("\n").map((line) => line).join("\\l");
    const lines = ["digraph workflow {", "  rankdir=TB;"];
    for (const { id, label, shape } of this.#nodes) lines.push(`  ${id} [label="${text(label)}", shape=${shape}];`);
    for (const [index, { title, nodes }] of this.#subgraphs.entries()) {
      lines.push(
        `  subgraph cluster_${index + 1} {`,
        `    label="${text(title)}";`,
        ...nodes.map((id) => `    ${id};`),
        "  }",
      );
    }
    for (const edge of this.#edges) {
      const label = edge.text === "" ? "" : ` [label="${text(edge.text)}"]`;
      lines.push(`  ${edge.from} -> ${edge.to}${label};`);
    }
    return [...lines, "}"].join("\n");
  }
}
