import { readFileSync } from "node:fs";
import type { KafkaConfig, SASLOptions } from "kafkajs";
import type { EnvReader } from "#src/config.ts";

/** Encryption and authentication of connections to Kafka. */
export interface KafkaSecurity {
  readonly isEncrypted: boolean;
  /** PEM file with the certificate authorities of the brokers; undefined for those that Node trusts. */
  readonly caFile: string | undefined;
  readonly login: KafkaLogin | undefined;
}

const MECHANISMS = ["plain", "scram-sha-256", "scram-sha-512"] as const;

type KafkaLogin = Extract<SASLOptions, { readonly mechanism: (typeof MECHANISMS)[number] }>;

/** Reads `KAFKA_TLS`, `KAFKA_CA_FILE`, `KAFKA_USERNAME`, `KAFKA_PASSWORD` and `KAFKA_SASL_MECHANISM`. */
export function readKafkaSecurity(read: EnvReader): KafkaSecurity {
  const isEncrypted = read
    .about("Whether connections to Kafka are encrypted and its certificates verified.")
    .boolean("KAFKA_TLS", false);
  const caFile = read
    .about("PEM file with the certificate authorities of Kafka, if they are not publicly trusted.")
    .optionalString("KAFKA_CA_FILE");
  const username = read
    .about("User name for Kafka's SASL authentication; empty for none.")
    .optionalString("KAFKA_USERNAME");
  const login = read.when(username !== undefined);
  const mechanism = login
    .about("SASL mechanism of `KAFKA_USERNAME`.")
    .oneOf("KAFKA_SASL_MECHANISM", MECHANISMS, "scram-sha-512");
  const password = login
    .secret("Password of `KAFKA_USERNAME`, required with it.", "")
    .string("KAFKA_PASSWORD");
  if (mechanism === "plain" && username !== undefined && !isEncrypted)
    read.fail("KAFKA_SASL_MECHANISM", "plain sends the password unencrypted; set KAFKA_TLS");
  return {
    isEncrypted,
    caFile,
    login: username === undefined ? undefined : { mechanism, username, password },
  };
}

/** Converts the settings to the configuration of kafkajs. */
export function toKafkaConfig(security: KafkaSecurity | undefined): Partial<KafkaConfig> {
  if (security === undefined) return {};
  const { isEncrypted, caFile, login } = security;
  const trust = caFile === undefined ? true : { ca: [readFileSync(caFile, "utf8")] };
  return {
    ...(isEncrypted ? { ssl: trust } : {}),
    ...(login === undefined ? {} : { sasl: login }),
  };
}
