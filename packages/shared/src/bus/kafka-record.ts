import type { KafkaMessage } from "kafkajs";
import type { BusRecord } from "#src/bus.ts";

export function toBusRecord({ key, headers, value }: KafkaMessage): BusRecord {
  const entries = Object.entries(headers ?? {}).map(([name, header]) => [name, toText(header)]);
  return {
    key: key?.toString() ?? "",
    value: value?.toString() ?? "",
    headers: Object.fromEntries(entries),
  };
}

function toText(header: Buffer | string | (Buffer | string)[] | undefined): string {
  return Array.isArray(header) ? toText(header[0]) : (header?.toString() ?? "");
}
