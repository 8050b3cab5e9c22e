import { readFileSync } from "node:fs";
import type { KafkaConfig, SASLOptions } from "kafkajs";
import type { EnvReader } from "#src/config.ts";

/** How a Kafka outside of the own network is spoken to. */
export interface KafkaSecurity {
  readonly isEncrypted: boolean;
  /** A file in PEM of those who vouch for the brokers; undefined = those that Node trusts. */
  readonly caFile: string | undefined;
  readonly login: KafkaLogin | undefined;
}

const MECHANISMS = ["plain", "scram-sha-256", "scram-sha-512"] as const;

type KafkaLogin = Extract<SASLOptions, { readonly mechanism: (typeof MECHANISMS)[number] }>;

/** Reads `KAFKA_TLS`, `KAFKA_CA_FILE`, `KAFKA_USERNAME`, `KAFKA_PASSWORD` and `KAFKA_SASL_MECHANISM`. */
export function readKafkaSecurity(read: EnvReader): KafkaSecurity {
  const isEncrypted = read
    .about("Whether connections to Kafka are encrypted, and its certificates looked at.")
    .boolean("KAFKA_TLS", false);
  const caFile = read
    .about("File in PEM of those who vouch for Kafka's certificates, where that is nobody known.")
    .optionalString("KAFKA_CA_FILE");
  const username = read
    .about("Who logs in to Kafka by SASL; empty = nobody needs to.")
    .optionalString("KAFKA_USERNAME");
  const login = read.when(username !== undefined);
  const mechanism = login
    .about("How `KAFKA_USERNAME` logs in.")
    .oneOf("KAFKA_SASL_MECHANISM", MECHANISMS, "scram-sha-512");
  const password = login
    .secret("Password of `KAFKA_USERNAME`, required with it.", "")
    .string("KAFKA_PASSWORD");
  if (mechanism === "plain" && username !== undefined && !isEncrypted)
    read.fail("KAFKA_SASL_MECHANISM", "plain shows the password to the network: set KAFKA_TLS");
  return {
    isEncrypted,
    caFile,
    login: username === undefined ? undefined : { mechanism, username, password },
  };
}

/** The same in kafkajs' words. */
export function toKafkaConfig(security: KafkaSecurity | undefined): Partial<KafkaConfig> {
  if (security === undefined) return {};
  const { isEncrypted, caFile, login } = security;
  const trust = caFile === undefined ? true : { ca: [readFileSync(caFile, "utf8")] };
  return {
    ...(isEncrypted ? { ssl: trust } : {}),
    ...(login === undefined ? {} : { sasl: login }),
  };
}
