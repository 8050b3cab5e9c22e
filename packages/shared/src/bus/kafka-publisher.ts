import { Partitioners, type Kafka, type Producer } from "kafkajs";
import { RefusedRecordsError, type BusRecord } from "#src/bus.ts";

const ACK_ALL = -1;
const SEND_TIMEOUT_MS = 5_000;
/** Below the broker's default `message.max.bytes` of 1 MiB, which holds for a whole batch. */
const MAX_SEND_BYTES = 768 * 1024;
/** Of one record beside its value: key, headers, framing. */
const RECORD_OVERHEAD_BYTES = 512;

/** What a broker says of records that it will never take. */
const REFUSALS = new Set([
  "MESSAGE_TOO_LARGE",
  "RECORD_LIST_TOO_LARGE",
  "INVALID_RECORD",
  "INVALID_TIMESTAMP",
  "UNSUPPORTED_FOR_MESSAGE_FORMAT",
]);

/** Sends records with all acknowledgements, one request at a time; connects when it is first used. */
export class KafkaPublisher implements AsyncDisposable {
  readonly #producer: Producer;
  #connected: Promise<void> | undefined;

  constructor(kafka: Kafka) {
    // Not the idempotent producer of kafkajs: it can drop out of sequence for good after a reconnect (#598, #1005), and its
    // promise ends with the process anyway. One request in flight keeps the order; consumers bear repeats.
    this.#producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      maxInFlightRequests: 1,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 },
    });
  }

  /** @throws RefusedRecordsError when the broker will never take one of them. */
  async publish(topic: string, records: readonly BusRecord[]): Promise<void> {
    await this.#connect();
    for (const part of splitByBytes(records)) {
      const messages = part.map(({ key, headers, value }) => ({
        key,
        headers: { ...headers },
        value,
      }));
      try {
        await this.#producer.send({ topic, messages, acks: ACK_ALL, timeout: SEND_TIMEOUT_MS });
      } catch (error) {
        throw toRefusal(error);
      }
    }
  }

  async #connect(): Promise<void> {
    this.#connected ??= this.#producer.connect();
    try {
      await this.#connected;
    } catch (error) {
      this.#connected = undefined;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#producer.disconnect();
  }
}

/** kafkajs wraps what the broker said in errors of its own. */
function toRefusal(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const type = "type" in cause ? String(cause.type) : "";
    if (REFUSALS.has(type)) return new RefusedRecordsError(type, { cause: error });
  }
  return error;
}

function splitByBytes(records: readonly BusRecord[]): readonly (readonly BusRecord[])[] {
  const parts: BusRecord[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const size = Buffer.byteLength(record.value) + RECORD_OVERHEAD_BYTES;
    bytes += size;
    if (bytes > MAX_SEND_BYTES) {
      parts.push([]);
      bytes = size;
    }
    parts.at(-1)?.push(record);
  }
  return parts;
}
