import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import { root } from "../check/run-command.ts";
import { type Manifest, nameOf } from "../manifests/manifest.ts";

const { version: VERSION } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
};

interface Value {
  readonly about: string;
  /** Its text in the overlay, which is the default. */
  readonly text: string;
}

/** What every installation changes in its copy of the overlay. */
const VALUES: Readonly<Record<string, Value>> = {
  registry: {
    about: "The images are <registry>/posts and so on.",
    text: "registry.example.com/postrider",
  },
  host: {
    about: "Host name of the API; PUBLIC_URL is https://<host>.",
    text: "postrider.example.com",
  },
  email: { about: "Let's Encrypt writes to it.", text: "operators@example.com" },
  gatewayClass: { about: "`kubectl get gatewayclass`.", text: "gatewayClassName: envoy" },
  proxyNamespace: { about: "Where the proxies of the Gateway run.", text: "envoy-gateway-system" },
  kafkaBrokers: {
    about: "Bootstrap brokers.",
    text: "kafka-0.example.internal:9092,kafka-1.example.internal:9092,kafka-2.example.internal:9092",
  },
  privateRange: { about: "Contains the proxies, Postgres and Kafka.", text: "10.0.0.0/8" },
  s3Region: { about: "Region of the bucket.", text: "eu-central-1" },
  s3Bucket: { about: "A bucket that no other database uses.", text: "S3_BUCKET: postrider-media" },
  deploymentId: {
    about: "Another one for each copy of the data.",
    text: "DEPLOYMENT_ID: production",
  },
};

/** Objects that an installation may do without. */
const OPTIONS: Readonly<Record<string, { readonly about: string; readonly objects: RegExp }>> = {
  gateway: {
    about:
      "Gateway, routes and certificate; without it, send clients to the Service `gateway` yourself.",
    objects: /^(?:Gateway|HTTPRoute|Issuer)\/|\/acme-challenges$/,
  },
  kafkaRights: {
    about: "Whether a Job creates the access control lists of Kafka.",
    objects: /\/kafka-rights/,
  },
  provision: {
    about: "Whether a Job creates the roles of the database, with the owner's password.",
    objects: /\/database-provision/,
  },
};

/** ConfigMaps keep their names in a chart, so pods and Jobs are new ones when a value changes. */
const CHECKSUM = "{{ toJson .Values | sha256sum | trunc 10 }}";

/** A text like `name: value` keeps its name. */
function toPattern(text: string): readonly [string, string] {
  const [, name = "", value = text] = /^(\w+: )(.*)$/.exec(text) ?? [];
  return [name, value];
}

function insertValues(text: string, used: Set<string>): string {
  return Object.entries(VALUES).reduce((result, [name, { text: wanted }]) => {
    const [prefix, value] = toPattern(wanted);
    if (result.includes(prefix + value)) used.add(name);
    return result.replaceAll(prefix + value, `${prefix}{{ .Values.${name} }}`);
  }, text);
}

function withChecksum(manifest: Manifest): Manifest {
  if (manifest.kind === "Job")
    return {
      ...manifest,
      metadata: { ...manifest.metadata, name: `${manifest.metadata.name}-CHECKSUM` },
    };
  if (manifest.kind !== "Deployment") return manifest;
  const copy = structuredClone(manifest) as Manifest<{ template: { metadata: object } }>;
  if (copy.spec)
    Object.assign(copy.spec.template.metadata, { annotations: { values: "CHECKSUM" } });
  return copy;
}

function toTemplate(manifest: Manifest, used: Set<string>): string {
  const text = insertValues(stringify(withChecksum(manifest), { lineWidth: 0 }), used)
    .replaceAll("CHECKSUM", CHECKSUM)
    .replaceAll("namespace: postrider\n", "namespace: {{ .Release.Namespace }}\n")
    .replaceAll(
      new RegExp(`(?<=/\\w+:)${VERSION.replaceAll(".", "\\.")}$`, "gm"),
      "{{ .Chart.AppVersion }}",
    );
  const option = Object.entries(OPTIONS).find(([, { objects }]) => objects.test(nameOf(manifest)));
  return option === undefined
    ? `---\n${text}`
    : `{{- if .Values.${option[0]} }}\n---\n${text}{{- end }}\n`;
}

/** The files of the chart by their paths. Helm creates the namespace, so the chart has none. */
export function toChart(rendered: string): Readonly<Record<string, string>> {
  const manifests = parseAllDocuments(rendered).map((document) => document.toJS() as Manifest);
  const used = new Set<string>();
  const templates = manifests
    .filter(({ kind }) => kind !== "Namespace")
    .map((manifest) => toTemplate(manifest, used));
  const unused = Object.keys(VALUES).filter((name) => !used.has(name));
  if (unused.length > 0) throw new Error(`the overlay has no value of ${unused.join(", ")}`);
  const values = Object.entries(VALUES).map(
    ([name, { about, text }]) => `# ${about}\n${name}: ${JSON.stringify(toPattern(text)[1])}\n`,
  );
  const options = Object.entries(OPTIONS).map(([name, { about }]) => `# ${about}\n${name}: true\n`);
  const about = { description: "Publishes to social networks.", type: "application" };
  return {
    "Chart.yaml": stringify({
      apiVersion: "v2",
      name: "postrider",
      ...about,
      version: VERSION,
      appVersion: VERSION,
    }),
    "values.yaml": [...values, ...options].join(""),
    "templates/postrider.yaml": templates.join(""),
  };
}
