import type { EnvReader } from "#src/config/env-reader.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/;

export function readInternalNetwork(read: EnvReader): "trusted" | "untrusted" {
  return read
    .about(
      "Whether others can read traffic among Postrider's processes and between them and Kafka. With `untrusted`, a process in production does not start if it would send RPCs, events or `OTEL_EXPORTER_OTLP_HEADERS` without TLS to another machine. Files are not checked: they reach the inspector without TLS, and the object store as `S3_ENDPOINT` says. Set `trusted` if the network is private, or if a lower layer encrypts it (WireGuard, a service mesh).",
      { level: "needed" },
    )
    .oneOf("INTERNAL_NETWORK", ["untrusted", "trusted"], "untrusted");
}

export function isLocalUrl(address: string): boolean {
  return LOOPBACK.test(URL.parse(address)?.hostname ?? "");
}

function isLocalBroker(broker: string): boolean {
  return LOOPBACK.test(broker.trim().replace(/:\d+$/, ""));
}

/** Identity tokens and posts would be readable on a network that the operator does not trust. */
export function findNetworkFaults(reader: EnvReader): readonly string[] {
  const isRead = reader.settings.some(({ name }) => name === "INTERNAL_NETWORK");
  if (!isRead || reader.find("INTERNAL_NETWORK") === "trusted") return [];
  const remedy = "or set INTERNAL_NETWORK=trusted if no other party can read this network";
  const isPlain = (name: string): boolean => {
    const address = reader.find(name) ?? "";
    return address.startsWith("http://") && !isLocalUrl(address);
  };
  const plain = reader.settings
    .filter(({ name, isPeer }) => isPeer === true && isPlain(name))
    .map(({ name }) => `${name} must begin with https:// (see RPC_TLS_CERT_FILE), ${remedy}`);
  if (reader.has("OTEL_EXPORTER_OTLP_HEADERS") && isPlain("OTEL_EXPORTER_OTLP_ENDPOINT"))
    plain.push(
      `OTEL_EXPORTER_OTLP_ENDPOINT must begin with https://, because OTEL_EXPORTER_OTLP_HEADERS has secrets, ${remedy}`,
    );
  const brokers = (reader.find("KAFKA_BROKERS") ?? "").split(",").filter((each) => each !== "");
  const isKafkaPlain = reader.find("KAFKA_TLS") !== "true" && !brokers.every(isLocalBroker);
  return isKafkaPlain ? [...plain, `KAFKA_TLS must be true, ${remedy}`] : plain;
}
