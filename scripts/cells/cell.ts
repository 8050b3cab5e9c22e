import { execFile, execFileSync, spawn } from "node:child_process";
import dns from "node:dns";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";
import { startEmbeddedPostgres } from "../../packages/local/src/postgres/embedded-postgres.ts";
import { findStablePorts, probePort } from "../../packages/local/src/processes/free-port.ts";
import { root } from "../check/run-command.ts";

const SERVE = join(root, "packages/serve/src/main.ts");
const TOOL = join(root, "packages/cli/src/main.ts");
/** The ports of `serve`, and the same with 1000 added. */
const OFFSETS = [0, 1, 2, 3, 4, 5, 1_000, 1_001, 1_002, 1_003, 1_004];

type Environment = Readonly<Record<string, string>>;

/** An installation with a Postgres of its own, which is not started yet. */
export interface Cell extends AsyncDisposable {
  readonly port: number;
  /** Disposing stops the services. */
  readonly start: (settings: Environment) => Promise<AsyncDisposable>;
  /** Runs the operator's tool; returns what it prints as JSON. */
  readonly tool: (...words: readonly string[]) => Promise<unknown>;
}

async function findPort(): Promise<number> {
  for (;;) {
    const [first = 0] = await findStablePorts(1);
    const probes = await Promise.all(OFFSETS.map((offset) => probePort(first + offset)));
    if (!probes.includes(undefined)) return first;
  }
}

async function startServe(env: Environment): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, [SERVE], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (text.includes("Postrider is ready")) resolve();
  });
  const failed = ended.then(([code]) => {
    throw new Error(`serve ended with ${String(code)}`);
  });
  await Promise.race([ready, failed]);
  failed.catch(() => undefined);
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

export async function openCell(folder: string, simulatorUrl: string): Promise<Cell> {
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, "postgres") });
  const port = await findPort();
  const dataDir = join(folder, "data");
  const env = { PATH: process.env.PATH ?? "", POSTRIDER_DATA_DIR: dataDir };
  return {
    port,
    start: async (settings) =>
      await startServe({
        ...env,
        // The simulated platforms use plain http.
        POSTRIDER_ENV: "development",
        POSTRIDER_SETTINGS_FILE: "",
        DATABASE_URL: postgres.url,
        PORT: String(port),
        SIMULATOR_URL: simulatorUrl,
        BLUESKY_BASE_URL: `${simulatorUrl}/bluesky`,
        DASHBOARD: "off",
        TRUSTED_PROXIES: "loopback",
        ...settings,
      }),
    tool: async (...words) => {
      // Not synchronous: the simulator answers in this process meanwhile.
      const { stdout } = await promisify(execFile)(process.execPath, [TOOL, ...words, "--json"], {
        env,
      });
      return JSON.parse(stdout) as unknown;
    },
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}

const CONFIGURATION = join(root, "deploy/cells/nginx.conf");
const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

interface CellPorts {
  /** Of the host name that all cells share. */
  readonly shared: number;
  /** The port of each cell's own host name, and of its gateway, by the name of the cell. */
  readonly cells: Readonly<Record<string, { readonly own: number; readonly gateway: number }>>;
}

/** All host names then lead to this machine, and this process trusts the certificate of nginx. */
function trust(certificate: string): void {
  const lookup = (_host: string, _options: object, callback: (...found: unknown[]) => void) =>
    callback(null, [{ address: "127.0.0.1", family: 4 }]);
  Object.assign(dns, { lookup });
  setDefaultCACertificates([readFileSync(certificate)]);
}

function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`deploy/cells/nginx.conf has no ${from}`);
  return text.replaceAll(from, to);
}

/** deploy/cells/nginx.conf for this machine, with servers for the cells' own host names. */
function configure(folder: string, { shared, cells }: CellPorts): string {
  const changes = [
    ["listen 443 ssl", `listen 127.0.0.1:${shared} ssl`],
    ["/etc/nginx/tls/api.pem", `${folder}/cert.pem`],
    ["/etc/nginx/tls/api-key.pem", `${folder}/key.pem`],
    ["/etc/ssl/certs/ca-certificates.crt", `${folder}/cert.pem`],
    ["10.0.1.10:443", `127.0.0.1:${cells["eu1"]?.own}`],
    ["10.0.2.10:443", `127.0.0.1:${cells["us1"]?.own}`],
  ] as const;
  const text = changes.reduce(
    (changed, [from, to]) => replaced(changed, from, to),
    readFileSync(CONFIGURATION, "utf8"),
  );
  const own = Object.entries(cells).map(
    ([cell, { own: port, gateway }]) => `server {
      listen 127.0.0.1:${port} ssl;
      server_name ${cell}.example.com;
      ssl_certificate ${folder}/cert.pem;
      ssl_certificate_key ${folder}/key.pem;
      location / {
        proxy_pass http://127.0.0.1:${gateway};
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      }
    }`,
  );
  const paths = TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`);
  return replaced(text, "http {", ["http {", "access_log off;", ...paths, ...own].join("\n"));
}

/** Checks the configuration first. Disposing stops nginx. */
export async function startNginx(
  nginx: string,
  folder: string,
  ports: CellPorts,
): Promise<AsyncDisposable> {
  const hosts = ["api", ...Object.keys(ports.cells)].map((name) => `DNS:${name}.example.com`);
  const certificate = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const names = ["-subj", "/CN=cells", "-addext", `subjectAltName=${hosts.join()}`];
  const files = ["-keyout", `${folder}/key.pem`, "-out", `${folder}/cert.pem`];
  execFileSync("openssl", ["req", "-x509", "-days", "2", ...certificate, ...names, ...files], {
    stdio: "ignore",
  });
  trust(`${folder}/cert.pem`);
  writeFileSync(`${folder}/nginx.conf`, configure(folder, ports));
  const place = ["-p", folder, "-e", "stderr", "-c", `${folder}/nginx.conf`];
  const global = `daemon off; pid ${folder}/pid;`;
  execFileSync(nginx, ["-t", "-q", ...place, "-g", global], { stdio: "inherit" });
  const child = spawn(nginx, [...place, "-g", global], { stdio: "inherit" });
  await once(child, "spawn");
  return {
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "close");
      child.kill("SIGQUIT");
      await ended;
    },
  };
}
