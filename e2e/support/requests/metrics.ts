import { readMetrics } from "../observers/canaries.ts";
import type { System } from "../system/system.ts";

/** One metric sample: one line of Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The metrics that one process exposes. */
export interface Exposition {
  readonly help: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
}

const SAMPLE = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const LABEL = /(?<name>\w+)="(?<value>(?:[^"\\]|\\.)*)"/g;

function toSample(line: string): Sample {
  const { name = "", labels = "", value = "" } = SAMPLE.exec(line)?.groups ?? {};
  if (name === "") throw new Error(`this line is not a sample: ${line}`);
  const pairs = [...labels.matchAll(LABEL)].map(({ groups }) => [groups?.name, groups?.value]);
  return { name, labels: Object.fromEntries(pairs) as Sample["labels"], value: Number(value) };
}

export function parseExposition(text: string): Exposition {
  const lines = text.split("\n").filter((line) => line !== "");
  const readComments = (what: string) =>
    new Map(
      lines
        .filter((line) => line.startsWith(`# ${what} `))
        .map((line) => {
          const [, , name = "", ...words] = line.split(" ");
          return [name, words.join(" ")];
        }),
    );
  const samples = lines.filter((line) => !line.startsWith("#")).map(toSample);
  return { help: readComments("HELP"), types: readComments("TYPE"), samples };
}

/** Reads the metrics of the first replica of each service. */
export async function readExpositions(system: System): Promise<ReadonlyMap<string, Exposition>> {
  const texts = await readMetrics(system.local());
  return new Map(
    [...texts].flatMap(([where, text]) => {
      const service = /^metrics of (?<service>\w+) 1$/.exec(where)?.groups?.service;
      return service === undefined ? [] : [[service, parseExposition(text)] as const];
    }),
  );
}

export function seriesOf(service: string, { samples }: Exposition): readonly string[] {
  return samples.map(({ name, labels }) => `${service} ${name} ${JSON.stringify(labels)}`);
}
