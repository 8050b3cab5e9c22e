import { describeSettings, EnvReader } from "../../packages/shared/src/config.ts";
import {
  readBusConfig,
  readDatabaseConfig,
  readMigrationSettings,
} from "../../packages/shared/src/process/service.ts";
import { settings as simulatorSettings } from "../../packages/simulator/src/config.ts";
import { readInspectorSettings } from "../../services/media/src/config.ts";
import { PEER_SETTINGS } from "../services/peers.ts";
import { isService, READERS } from "../services/settings.ts";
import { readEnvironment, type Variable } from "./environment.ts";
import {
  type Container,
  containersOf,
  type Manifest,
  ofKind,
  ownImage,
  workloadsOf,
} from "./manifest.ts";

type Read = (reader: EnvReader) => object;

/** Environment variables that Node itself reads. */
const NODE_VARIABLES = ["NODE_OPTIONS"];

const DATABASES = ["accounts", "posts", "media", "delivery"] as const;

/** The setting of the role's connection, its name, and the setting of its password. */
const rolesOf = (service: string) =>
  [
    {
      url: "DATABASE_URL",
      role: `postrider_${service}`,
      password: `${service.toUpperCase()}_DATABASE_PASSWORD`,
      isForWebhooks: false,
    },
    {
      url: "MIGRATION_DATABASE_URL",
      role: `postrider_${service}_migration`,
      password: `${service.toUpperCase()}_MIGRATION_PASSWORD`,
      isForWebhooks: false,
    },
  ] as const;

/** Only installations with processes that only send webhooks have it. */
const WEBHOOKS_ROLE = {
  url: "DATABASE_URL",
  role: "postrider_delivery_webhooks",
  password: "DELIVERY_WEBHOOKS_DATABASE_PASSWORD",
  isForWebhooks: true,
} as const;

/** The settings that each program reads, by the container image and the command of the program. */
const PROGRAMS: Readonly<Record<string, Read>> = {
  ...READERS,
  // The pod in which operators run the tool.
  "cli node --eval setInterval(() => {}, 60_000)": (read) => [
    read.secret("-").string("IDENTITY_KEYS"),
    ...Object.keys(PEER_SETTINGS).map((name) => read.optionalString(name)),
  ],
  ...Object.fromEntries(
    DATABASES.map((service) => [`${service} node src/migrate.ts`, readMigrationSettings]),
  ),
  "media node --max-semi-space-size=2 src/inspection/server/main.ts": readInspectorSettings,
  "cli topics create": readBusConfig,
  "cli topics grant": readBusConfig,
  "cli database provision": (read) => [
    ...[
      "DATABASE_URL",
      ...DATABASES.flatMap((service) => rolesOf(service).map(({ password }) => password)),
    ].map((name) => read.secret("-").string(name)),
    read.secret("-").optionalString(WEBHOOKS_ROLE.password),
  ],
  simulator: (read) => simulatorSettings.map(({ name }) => read.optionalString(name)),
};

/** These differ by process; all others have one value in every process. */
const OWN = new Set([
  "HOST",
  "PORT",
  "METRICS_PORT",
  "IDENTITY_KEYS",
  // Each process of the delivery service can do one part of the service's work, or all of it.
  "ROLE",
  ...NODE_VARIABLES,
  // Each service has a Kafka user of its own, and so have the Kubernetes Jobs that create Kafka
  // topics and grant rights.
  "KAFKA_USERNAME",
  "KAFKA_PASSWORD",
  ...describeSettings(readDatabaseConfig).map(({ name }) => name),
  ...describeSettings(readMigrationSettings).map(({ name }) => name),
]);

/** Keys that only processes with these values of `ROLE` need; no other one may have them. */
const ROLES_WITH: Readonly<Record<string, readonly string[]>> = {
  MEDIA_KEY: ["all", "publishing"],
};

function mayHave(name: string, { variables }: Pick<Process, "variables">): boolean {
  const role = variables.get("ROLE")?.value;
  return role === undefined || (ROLES_WITH[name]?.includes(role) ?? true);
}

interface Process {
  readonly where: string;
  readonly image: string;
  readonly program: string;
  readonly container: Container;
  readonly variables: ReadonlyMap<string, Variable>;
  readonly faults: readonly string[];
}

function processesOf(manifests: readonly Manifest[]): readonly Process[] {
  return workloadsOf(manifests).flatMap((workload) =>
    containersOf(workload).flatMap((container) => {
      const image = ownImage(container.image);
      if (image === undefined) return [];
      const { command = [], args = [] } = container;
      const program = [image, ...command, ...args].join(" ");
      const where = `${workload.where} ${container.name}`;
      return [{ where, image, program, container, ...readEnvironment(container, manifests) }];
    }),
  );
}

/** Variables that a process lacks, does not read or cannot parse, according to the code. */
export function checkEnvironment(manifests: readonly Manifest[]): readonly string[] {
  const processes = processesOf(manifests);
  return [
    ...processes.flatMap((process) =>
      [...process.faults, ...settingFaults(process), ...portFaults(process)].map(
        (fault) => `${process.where}: ${fault}`,
      ),
    ),
    ...checkAgreement(processes),
    // Where the operator creates the Secrets, their values are not known.
    ...(ofKind(manifests, "Secret").length > 0 ? checkPasswords(processes) : []),
  ];
}

function settingFaults(process: Process): readonly string[] {
  const { program, variables } = process;
  const read = PROGRAMS[program];
  if (read === undefined)
    return [`the program \`${program}\` is unknown: add it to check-environment.ts`];
  const reader = new EnvReader(
    Object.fromEntries([...variables].map(([name, { value }]) => [name, value])),
  );
  read(reader);
  const settings = describeSettings(read);
  const known = [...settings.map(({ name }) => name), ...NODE_VARIABLES];
  return [
    ...reader.faults,
    ...[...variables.keys()]
      .filter((name) => !known.includes(name) || !mayHave(name, process))
      .map((name) => `${name} is set and not read`),
    ...settings
      .filter(({ name, isSecret }) => isSecret && variables.get(name)?.isSecret === false)
      .map(({ name }) => `${name} is secret and does not come from a Secret`),
  ];
}

function portFaults({ program, container, variables }: Process): readonly string[] {
  if (!isService(program)) return [];
  const declared = (container.ports ?? []).map(({ containerPort }) => containerPort);
  return ["PORT", "METRICS_PORT"]
    .filter((name) => !declared.includes(Number(variables.get(name)?.value)))
    .map((name) => `${name} is not one of the container's ports ${declared.join(", ")}`);
}

/**
 * Checks that all processes that read a setting are given the same value, or that none of them is
 * given a value.
 */
function checkAgreement(processes: readonly Process[]): readonly string[] {
  const first = new Map<string, { readonly where: string; readonly value: string }>();
  for (const { where, variables } of processes)
    for (const [name, { value }] of variables)
      if (!OWN.has(name) && !first.has(name)) first.set(name, { where, value });

  return processes.flatMap((process) =>
    describeSettings(PROGRAMS[process.program] ?? (() => ({}))).flatMap(({ name }) => {
      const other = first.get(name);
      const { where, variables } = process;
      const isSame = other === undefined || other.value === variables.get(name)?.value;
      return isSame || !mayHave(name, process)
        ? []
        : [`${where}: ${name} differs from that of ${other.where}`];
    }),
  );
}

/**
 * Checks that `database provision` creates each role with the password that the role's processes
 * use.
 */
function checkPasswords(processes: readonly Process[]): readonly string[] {
  const provision = processes.find(({ program }) => program === "cli database provision");
  if (provision === undefined) return [];
  return DATABASES.flatMap((service) => {
    const roles = [...rolesOf(service), ...(service === "delivery" ? [WEBHOOKS_ROLE] : [])];
    return roles.flatMap(({ url: setting, role, password, isForWebhooks }) => {
      const provisioned = provision.variables.get(password)?.value;
      return processes
        .filter(({ image, variables }) => {
          const value = variables.get(setting)?.value;
          const url = URL.parse(value ?? "");
          const isSame = url?.username === role && url.password === provisioned;
          const isOfRole = (variables.get("ROLE")?.value === "webhooks") === isForWebhooks;
          return image === service && isOfRole && value !== undefined && !isSame;
        })
        .map(
          ({ where }) => `${where}: ${setting} has another role or password than is provisioned`,
        );
    });
  });
}
