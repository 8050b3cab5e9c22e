import { execFileSync, spawn } from "node:child_process";
import dns from "node:dns";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setDefaultCACertificates } from "node:tls";
import { root } from "../check/run-command.ts";

const CONFIGURATION = join(root, "deploy/cells/nginx.conf");
const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

export interface CellPorts {
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
