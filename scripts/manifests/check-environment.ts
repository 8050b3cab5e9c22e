import { describeSettings, EnvReader } from "../../packages/shared/src/config.ts";
import { readBusConfig, readDatabaseConfig } from "../../packages/shared/src/process/service.ts";
import { settings as simulatorSettings } from "../../packages/simulator/src/config.ts";
import { type ContainerEnvironment, readEnvironment, type Variable } from "./environment.ts";
import { type Container, containersOf, type Manifest, ownImage, workloadsOf } from "./manifest.ts";
import { isService, READERS } from "./services.ts";

/** What Node itself reads. */
const NODE_VARIABLES = new Set(["NODE_OPTIONS"]);

/** What each process has of its own; every other setting is the same in all services that read it. */
const OWN = new Set(["PORT", "METRICS_PORT", "DATABASE_URL", ...NODE_VARIABLES]);

const ROLES = ["ACCOUNTS", "POSTS", "MEDIA", "DELIVERY"] as const;

/** What our programs that have no reader of their own need, by how they are started. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  "cli database provision": [
    "DATABASE_URL",
    ...ROLES.map((service) => `${service}_DATABASE_PASSWORD`),
  ],
};

/** Names a program as it is started: its image, then command and arguments. */
function programOf({ image, container }: Given): string {
  return [image, ...(container.command ?? []), ...(container.args ?? [])].join(" ");
}

/** What reads the environment of a service, of its migrations, or of what makes the topics. */
function readerOf(program: string): ((read: EnvReader) => object) | undefined {
  if (isService(program)) return READERS[program];
  if (program === "cli topics create") return readBusConfig;
  const [image = "", ...command] = program.split(" ");
  const isMigration = isService(image) && command.join(" ") === "node src/migrate.ts";
  return isMigration ? readDatabaseConfig : undefined;
}

/** A container of ours and what it is given. */
interface Given {
  readonly where: string;
  readonly image: string;
  readonly container: Container;
  readonly environment: ContainerEnvironment;
}

function ownContainers(manifests: readonly Manifest[]): readonly Given[] {
  return workloadsOf(manifests).flatMap((workload) =>
    containersOf(workload).flatMap((container) => {
      const image = ownImage(container.image);
      if (image === undefined) return [];
      const where = `${workload.kind}/${workload.name} ${container.name}`;
      const environment = readEnvironment(container, manifests);
      return [{ where, image, container, environment }];
    }),
  );
}

/** Each variable that a process of ours lacks, does not know or cannot read, by the modules that read them. */
export function checkEnvironment(manifests: readonly Manifest[]): readonly string[] {
  const given = ownContainers(manifests);
  return [
    ...given.flatMap((one) =>
      [...one.environment.faults, ...faultsOf(one)].map((fault) => `${one.where}: ${fault}`),
    ),
    ...checkAgreement(given),
    ...checkPasswords(given),
  ];
}

function faultsOf(given: Given): readonly string[] {
  const { container, environment } = given;
  const { variables } = environment;
  const program = programOf(given);
  const read = readerOf(program);
  const ports = isService(program) ? portFaults(container, variables) : [];
  if (read !== undefined) return [...settingFaults(read, variables), ...ports];
  const isSimulator = program === "simulator";
  const known = isSimulator ? simulatorSettings.map(({ name }) => name) : PROGRAMS[program];
  if (known === undefined) return [`nobody knows the program: ${program}`];
  const missing = isSimulator ? [] : known.filter((name) => !variables.has(name));
  return [
    ...missing.map((name) => `${name} is not set`),
    ...[...variables.keys()].filter((name) => !known.includes(name)).map(unknownVariable),
  ];
}

const unknownVariable = (name: string): string => `${name} is set, and nothing reads it`;

function settingFaults(
  read: (reader: EnvReader) => object,
  variables: ReadonlyMap<string, Variable>,
): readonly string[] {
  const values = [...variables].map(([name, { value }]) => [name, value]);
  const reader = new EnvReader(Object.fromEntries(values) as Record<string, string>);
  read(reader);
  const settings = describeSettings(read);
  const known = new Set([...settings.map(({ name }) => name), ...NODE_VARIABLES]);
  const open = settings.filter(
    ({ name, isSecret }) => isSecret && variables.get(name)?.isSecret === false,
  );
  return [
    ...reader.faults,
    ...[...variables.keys()].filter((name) => !known.has(name)).map(unknownVariable),
    ...open.map(({ name }) => `${name} is secret and does not come from a Secret`),
  ];
}

/** Containers listen where the manifests say. */
function portFaults(
  container: Container,
  variables: ReadonlyMap<string, Variable>,
): readonly string[] {
  const wanted = ["PORT", "METRICS_PORT"].map((name) => Number(variables.get(name)?.value));
  const declared = (container.ports ?? []).map(({ containerPort }) => containerPort);
  return wanted
    .filter((port) => !declared.includes(port))
    .map((port) => `listens on ${port}, which is none of its ports: ${declared.join(", ")}`);
}

/** Who read the same setting are told the same, and a default is not what the others are told. */
function checkAgreement(given: readonly Given[]): readonly string[] {
  const services = given.flatMap((one) => {
    const read = readerOf(programOf(one));
    // Migrations alone read settings that only they are told.
    const isCompared = read !== undefined && read !== readDatabaseConfig;
    return isCompared ? [{ ...one, settings: describeSettings(read) }] : [];
  });
  const first = new Map<string, { readonly where: string; readonly value: string }>();
  for (const { where, environment } of services) {
    for (const [name, { value }] of environment.variables)
      if (!OWN.has(name) && !first.has(name)) first.set(name, { where, value });
  }
  return services.flatMap(({ where, settings, environment }) =>
    settings.flatMap(({ name }) => {
      const other = first.get(name);
      return other === undefined || other.value === environment.variables.get(name)?.value
        ? []
        : [`${where}: ${name} differs from that of ${other.where}`];
    }),
  );
}

/** Roles are made with the passwords that the services log in with. */
function checkPasswords(given: readonly Given[]): readonly string[] {
  const provision = given.find(
    ({ container }) => container.args?.join(" ") === "database provision",
  );
  if (provision === undefined) return [];
  return ROLES.flatMap((role) => {
    const service = role.toLowerCase();
    const password = provision.environment.variables.get(`${role}_DATABASE_PASSWORD`)?.value;
    return given
      .filter(({ image }) => image === service)
      .flatMap(({ where, environment }) => {
        const url = URL.parse(environment.variables.get("DATABASE_URL")?.value ?? "");
        return url?.username === `postrider_${service}` && url.password === password
          ? []
          : [`${where}: DATABASE_URL names another role or password than is made`];
      });
  });
}
