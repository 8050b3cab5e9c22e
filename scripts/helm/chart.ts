import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import { root } from "../check/run-command.ts";
import { type Manifest, nameOf } from "../manifests/manifest.ts";
import { renderOverlay } from "../manifests/tools.ts";

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

/** What makes an installation a cell (docs/scale.md), and its texts in components/cell. */
const CELL_VALUES: Readonly<Record<string, Value & { readonly initial: string }>> = {
  cell: { about: "Name of the cell; empty without cells.", text: "CELL: eu1", initial: "" },
  cellAddresses: {
    about: "Names and addresses of all cells: eu1=https://eu1.example.com,us1=…",
    text: "CELL_ADDRESSES: eu1=https://eu1.example.com,us1=https://us1.example.com",
    initial: "",
  },
  sharedHost: {
    about: "Host name that leads the keys of all cells.",
    text: "api.example.com",
    initial: "api.example.com",
  },
};
const CELL_TEXTS = [
  ["pr_live_eu1_", "pr_live_{{ .Values.cell }}_"],
  ["hostname: eu1.example.com", "hostname: {{ .Values.host }}"],
] as const;
/** The match of requests without a key of any cell. */
const OTHER_REQUESTS = / +- path: \{\}\n/;

const NONE = /^$/;
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
  firstCell: {
    about:
      "Whether requests without the key of a cell, and keys from before it had a name, come here.",
    objects: NONE,
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
  return Object.entries({ ...CELL_VALUES, ...VALUES }).reduce(
    (result, [name, { text: wanted }]) => {
      const [prefix, value] = toPattern(wanted);
      if (result.includes(prefix + value)) used.add(name);
      return result.replaceAll(prefix + value, `${prefix}{{ .Values.${name} }}`);
    },
    text,
  );
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

function toText(manifest: Manifest, used: Set<string>): string {
  const text = CELL_TEXTS.reduce(
    (changed, [from, to]) => changed.replaceAll(from, to),
    stringify(withChecksum(manifest), { lineWidth: 0 }),
  );
  return insertValues(text, used)
    .replaceAll("CHECKSUM", CHECKSUM)
    .replace(OTHER_REQUESTS, (line) => `{{- if .Values.firstCell }}\n${line}{{- end }}\n`)
    .replaceAll("namespace: postrider\n", "namespace: {{ .Release.Namespace }}\n")
    .replaceAll(
      new RegExp(`(?<=/\\w+:)${VERSION.replaceAll(".", "\\.")}$`, "gm"),
      "{{ .Chart.AppVersion }}",
    );
}

function toTemplate(manifest: Manifest, text: string): string {
  const option = Object.entries(OPTIONS).find(([, { objects }]) => objects.test(nameOf(manifest)));
  return option === undefined
    ? `---\n${text}`
    : `{{- if .Values.${option[0]} }}\n---\n${text}{{- end }}\n`;
}

/** Each object as it is without cells and in one, where those differ. */
function withCell(plain: string | undefined, inCell: string): string {
  if (plain === inCell) return plain;
  const otherwise = plain === undefined ? "" : `{{- else }}\n${plain}`;
  return `{{- if .Values.cell }}\n${inCell}${otherwise}{{- end }}\n`;
}

function toTemplates(rendered: string, used: Set<string>): ReadonlyMap<string, string> {
  const manifests = parseAllDocuments(rendered).map((document) => document.toJS() as Manifest);
  return new Map(
    manifests
      .filter(({ kind }) => kind !== "Namespace")
      .map((manifest) => [nameOf(manifest), toTemplate(manifest, toText(manifest, used))]),
  );
}

/** Where the images are, which in a release is no longer the example of the template. */
function findRegistry(rendered: string): string {
  const [registry] = /(?<= image: )\S+(?=\/gateway[:@])/.exec(rendered) ?? [];
  if (registry === undefined) throw new Error("the overlay has no image of the gateway");
  return registry;
}

/**
 * The files of the chart by their paths, from the overlay and from the same as a cell. Helm creates
 * the namespace, so the chart has none.
 */
export function toChart(rendered: string, renderedCell: string): Readonly<Record<string, string>> {
  const used = new Set<string>();
  const registry = findRegistry(rendered);
  const toExample = (text: string): string =>
    text.replaceAll(` image: ${registry}/`, ` image: ${VALUES["registry"]?.text}/`);
  const plain = toTemplates(toExample(rendered), used);
  const templates = [...toTemplates(toExample(renderedCell), used)].map(([name, inCell]) =>
    withCell(plain.get(name), inCell),
  );
  const unused = Object.keys({ ...CELL_VALUES, ...VALUES }).filter((name) => !used.has(name));
  if (unused.length > 0) throw new Error(`the overlay has no value of ${unused.join(", ")}`);
  const initial = Object.entries(VALUES).map(
    ([name, { about, text }]) =>
      [name, about, name === "registry" ? registry : toPattern(text)[1]] as const,
  );
  const cell = Object.entries(CELL_VALUES).map(
    ([name, value]) => [name, value.about, value.initial] as const,
  );
  const values = [...initial, ...cell].map(
    ([name, about, value]) => `# ${about}\n${name}: ${JSON.stringify(value)}\n`,
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

/** The overlay `production` of an installation that is a cell: docs/scale.md. */
export function renderCell(): string {
  const folder = mkdtempSync(join(tmpdir(), "postrider-cell-"));
  const to = (path: string): string => relative(folder, join(root, "deploy/k8s", path));
  try {
    const kustomization = {
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      namespace: "postrider",
      resources: [to("overlays/production")],
      components: [to("components/cell")],
    };
    writeFileSync(join(folder, "kustomization.yaml"), stringify(kustomization));
    return renderOverlay(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
