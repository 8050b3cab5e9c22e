import type { EnvReader } from "#src/config/env-reader.ts";

const PEER_URL = /^(?:ACCOUNTS|POSTS|MEDIA_SERVICE|DELIVERY)_URL$/;

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/;

export function readInternalNetwork(read: EnvReader): "trusted" | "untrusted" {
  return read
    .about(
      "Whether others can read traffic among Postrider's processes and between them and Kafka. With `untrusted`, a process in production does not start if it would send RPCs or events without TLS to another machine. Set `trusted` if the network is private, or if a lower layer encrypts it (WireGuard, a service mesh).",
      { level: "needed" },
    )
    .oneOf("INTERNAL_NETWORK", ["untrusted", "trusted"], "untrusted");
}

function isLocalUrl(address: string): boolean {
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
  const plain = reader.settings
    .map(({ name }) => ({ name, address: reader.find(name) ?? "" }))
    .filter(({ name, address }) => PEER_URL.test(name) && address.startsWith("http://"))
    .filter(({ address }) => !isLocalUrl(address))
    .map(({ name }) => `${name} must begin with https:// (see RPC_TLS_CERT_FILE), ${remedy}`);
  const brokers = (reader.find("KAFKA_BROKERS") ?? "").split(",").filter((each) => each !== "");
  const isKafkaPlain = reader.find("KAFKA_TLS") !== "true" && !brokers.every(isLocalBroker);
  return isKafkaPlain ? [...plain, `KAFKA_TLS must be true, ${remedy}`] : plain;
}
