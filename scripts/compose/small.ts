import { randomBytes } from "node:crypto";
import { appendFileSync, chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates, setDefaultCACertificates } from "node:tls";
import { type Client, createClient } from "../../packages/client/src/client.ts";
import { findStablePorts } from "../../packages/local/src/processes/free-port.ts";
import { Installation, waitForAnswer } from "./installation.ts";
import { interrupted, run } from "./podman.ts";
import { caddy, type Images, postgres, simulator } from "./stand-ins.ts";

const PUBLISH_MS = 60_000;
const MAX_BYTES = 2_000_000_000;
const DOMAIN = "localhost";
const TEXT = "Hello from one server";

/**
 * In front of Postrider, with certificates of the self-made authority. Postrider publishes in
 * production, so it calls the simulated Bluesky by https too.
 */
const CADDYFILE = `{
	pki {
		ca local {
			root {
				cert /check/ca.pem
				key /check/ca.key
			}
		}
	}
}
import /etc/caddy/postrider
bluesky.test {
	tls internal
	reverse_proxy simulator:4100
}
`;

/**
 * Starts compose.small.yaml, publishes a post to a simulated Bluesky by https, restarts Postrider,
 * and reads the post. Returns what was measured.
 */
export async function checkSmall(images: Images): Promise<string> {
  await using installation = new Installation("small", ["compose.small.yaml"]);
  const [httpPort = 0, httpsPort = 0, simulatorPort = 0] = await findStablePorts(3);
  await makeAuthority(installation.folder);
  writeSettings(installation.folder, { httpPort, httpsPort });
  const ports = [`127.0.0.1:${simulatorPort}:4100`];
  installation.override(await overridesOf(images, installation.folder), {
    simulator: { ...simulator(images.base), ports },
  });
  const url = `https://${DOMAIN}:${httpsPort}`;
  try {
    await installation.start();
    await waitForAnswer(`${url}/readyz`);
    const { apiKey, account } = await connectAccount(installation, simulatorPort);
    const client = createClient({ baseUrl: url, apiKey });
    const { id } = await client.createPost({ content: TEXT, accountIds: [account] });
    await requirePublished(client, id, simulatorPort);
    const memory = await installation.readMemory();
    await installation.compose("restart", "postrider");
    await waitForAnswer(`${url}/readyz`);
    await requirePublished(client, id, simulatorPort);
    if (!(memory < MAX_BYTES)) throw new Error(`the containers use ${memory} bytes`);
    return `${Math.round(memory / 1e6)} MB of memory`;
  } catch (error) {
    if (!interrupted.aborted) process.stdout.write(`${await installation.readLogs()}\n`);
    throw error;
  }
}

/** Creates a workspace and connects an account with the operator's tool. */
async function connectAccount(installation: Installation, simulatorPort: number) {
  const use = async (args: string, input?: string) => {
    const command = ["postrider", ...args.split(" "), "--json"];
    return JSON.parse(await installation.exec("postrider", command, input)) as Created;
  };
  const workspace = await use("workspace create --name Check --verified --with-key");
  await waitForAnswer(`http://127.0.0.1:${simulatorPort}/_control/visible?platform=bluesky`);
  const { identifier, appPassword } = await createAccount(simulatorPort);
  const connect = `account connect bluesky --workspace ${workspace.id} --handle ${identifier}`;
  return { apiKey: workspace.key ?? "", account: (await use(connect, appPassword)).id };
}

interface Created {
  readonly id: string;
  readonly key?: string;
}

async function requirePublished(client: Client, id: string, simulatorPort: number): Promise<void> {
  const { status } = await client.waitForPost(id, { timeoutMs: PUBLISH_MS });
  const seen = (await readTexts(simulatorPort)).join();
  if (status !== "published" || seen !== TEXT)
    throw new Error(`the post is ${status}, and readers see "${seen}"`);
}

async function makeAuthority(folder: string): Promise<void> {
  const [certificate, key] = [join(folder, "ca.pem"), join(folder, "ca.key")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const about = ["-days", "2", "-subj", "/CN=Check authority"];
  const uses = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign"];
  const extensions = uses.flatMap((use) => ["-addext", use]);
  const files = ["-keyout", key, "-out", certificate];
  await run("openssl", "req", "-x509", ...curve, ...about, ...extensions, ...files);
  // The users of the containers are others.
  chmodSync(key, 0o644);
  chmodSync(folder, 0o755);
  setDefaultCACertificates([...rootCertificates, readFileSync(certificate, "utf8")]);
}

function writeSettings(
  folder: string,
  { httpPort, httpsPort }: Readonly<Record<"httpPort" | "httpsPort", number>>,
): void {
  const template = readFileSync(join(folder, "deploy/compose/small.env"), "utf8");
  const given = template
    .replace(/^DOMAIN=.*/m, `DOMAIN=${DOMAIN}`)
    .replace(/^EMAIL=.*/m, "EMAIL=internal");
  const more = {
    DATABASE_PASSWORD: randomBytes(24).toString("hex"),
    HTTP_PORT: `127.0.0.1:${httpPort}`,
    HTTPS_PORT: `127.0.0.1:${httpsPort}`,
    BLUESKY_BASE_URL: "https://bluesky.test/bluesky",
    NODE_EXTRA_CA_CERTS: "/check/ca.pem",
  };
  const lines = Object.entries(more).map(([name, value]) => `${name}=${value}\n`);
  const file = join(folder, ".env");
  writeFileSync(file, given, { mode: 0o600 });
  appendFileSync(file, lines.join(""));
  writeFileSync(join(folder, "Caddyfile"), CADDYFILE);
}

async function overridesOf(images: Images, folder: string) {
  const checked = [`${folder}:/check:ro`];
  const front = images.areReal ? {} : await caddy(images.base);
  return {
    postrider: { image: images.serve, volumes: [`${folder}/ca.pem:/check/ca.pem:ro`] },
    inspector: { image: images.serve },
    postgres: images.areReal ? {} : await postgres(images.base),
    caddy: {
      ...front,
      volumes: [
        ...(front.volumes ?? []),
        ...checked,
        "./deploy/compose/Caddyfile:/etc/caddy/postrider:ro",
        `${folder}/Caddyfile:/etc/caddy/Caddyfile:ro`,
      ],
      networks: { default: { aliases: ["bluesky.test"] } },
    },
  };
}

interface Credentials {
  readonly identifier: string;
  readonly appPassword: string;
}

async function createAccount(simulatorPort: number): Promise<Credentials> {
  const response = await fetch(`http://127.0.0.1:${simulatorPort}/_control/accounts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ platform: "bluesky" }),
  });
  const { accounts } = (await response.json()) as {
    readonly accounts: readonly { readonly credentials: Credentials }[];
  };
  const [account] = accounts;
  if (account === undefined) throw new Error("the simulator made no account");
  return account.credentials;
}

/** What readers of the simulated Bluesky see. */
async function readTexts(simulatorPort: number): Promise<readonly string[]> {
  const url = `http://127.0.0.1:${simulatorPort}/_control/visible?platform=bluesky`;
  const posts = (await (await fetch(url)).json()) as readonly { readonly text: string }[];
  return posts.map(({ text }) => text);
}
