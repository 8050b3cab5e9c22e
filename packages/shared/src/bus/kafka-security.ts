import { readFileSync } from "node:fs";
import type { KafkaConfig, SASLOptions } from "kafkajs";
import type { EnvReader } from "#src/config.ts";

export interface KafkaSecurity {
  readonly isEncrypted: boolean;
  /** PEM file of the authorities of the brokers; default: those that Node trusts. */
  readonly caFile: string | undefined;
  readonly login: KafkaLogin | undefined;
}

const MECHANISMS = ["plain", "scram-sha-256", "scram-sha-512"] as const;

type KafkaLogin = Extract<SASLOptions, { readonly mechanism: (typeof MECHANISMS)[number] }>;

export function readKafkaSecurity(read: EnvReader): KafkaSecurity {
  const isEncrypted = read
    .about("Whether connections to Kafka use TLS and verify the certificates of the brokers.")
    .boolean("KAFKA_TLS", false);
  const caFile = read
    .about(
      "PEM file of the certificate authority that signed the TLS certificates of Kafka, if it is not a public authority.",
    )
    .optionalString("KAFKA_CA_FILE");
  const username = read
    .about("User name for SASL authentication with Kafka. Empty = no authentication.")
    .optionalString("KAFKA_USERNAME");
  const login = read.when(username !== undefined);
  const mechanism = login
    .about("SASL mechanism for authentication with Kafka.", {
      level: "advanced",
    })
    .oneOf("KAFKA_SASL_MECHANISM", MECHANISMS, "scram-sha-512");
  const password = login
    .secret("Password for `KAFKA_USERNAME`. Required if `KAFKA_USERNAME` is set.", { default: "" })
    .string("KAFKA_PASSWORD");
  if (mechanism === "plain" && username !== undefined && !isEncrypted)
    read.fail(
      "KAFKA_SASL_MECHANISM",
      "plain sends the password unencrypted: set KAFKA_TLS=true or choose a scram mechanism",
    );
  return {
    isEncrypted,
    caFile,
    login: username === undefined ? undefined : { mechanism, username, password },
  };
}

export function toKafkaConfig(security: KafkaSecurity | undefined): Partial<KafkaConfig> {
  if (security === undefined) return {};
  const { isEncrypted, caFile, login } = security;
  const trust = caFile === undefined ? true : { ca: [readFileSync(caFile, "utf8")] };
  return {
    ...(isEncrypted ? { ssl: trust } : {}),
    ...(login === undefined ? {} : { sasl: login }),
  };
}
