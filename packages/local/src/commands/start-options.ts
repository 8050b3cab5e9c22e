import { parseArgs } from "node:util";

export interface StartOptions {
  readonly port: number | undefined;
  readonly kafka: boolean;
  readonly fresh: boolean;
  readonly replicas: number;
  readonly noRestart: boolean;
  readonly help: boolean;
}

export const usage = `npm start -- [--port N] [--kafka] [--fresh] [--replicas N] [--no-restart]

  --port N       the gateway listens on N (8080 by default)
  --kafka        events travel through a real Apache Kafka broker; needs Java 17 and Maven
  --fresh        forgets the data of earlier starts
  --replicas N   starts N of each service behind one address
  --no-restart   leaves a part that ended down

DATABASE_URL and KAFKA_BROKERS replace the embedded parts; other settings in the environment reach the services.
`;

/** @throws Error in one line for an unknown option or a value out of range. */
export function parseStartOptions(args: readonly string[]): StartOptions {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      port: { type: "string" },
      kafka: { type: "boolean", default: false },
      fresh: { type: "boolean", default: false },
      replicas: { type: "string", default: "1" },
      "no-restart": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  return {
    port: values.port === undefined ? undefined : wholeNumber("--port", values.port, 1, 65_535),
    kafka: values.kafka,
    fresh: values.fresh,
    replicas: wholeNumber("--replicas", values.replicas, 1, 9),
    noRestart: values["no-restart"],
    help: values.help,
  };
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new Error(`${name} takes a whole number from ${min} to ${max}, not "${text}"`);

  return value;
}
