// Starts Bluesky's own server (PDS) with its data in the given folder, and next to it a directory
// of DIDs that stores what the PDS registers there. Prints `{"url": …}` when it is ready, and ends
// on SIGTERM. node server.mjs FOLDER SERVICE_DID
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { PDS } from "@atproto/pds";

const [folder = "", serviceDid = ""] = process.argv.slice(2);

async function listen(server) {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server.address().port;
}

async function freePort() {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function readJson(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

/** Returns the DID document with which the directory answers `GET /:did`. */
function toDocument(did, { alsoKnownAs, verificationMethods, services }) {
  return {
    "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
    id: did,
    alsoKnownAs,
    verificationMethod: Object.entries(verificationMethods).map(([name, key]) => ({
      id: `${did}#${name}`,
      type: "Multikey",
      controller: did,
      publicKeyMultibase: key.replace("did:key:", ""),
    })),
    service: Object.entries(services).map(([name, { type, endpoint }]) => ({
      id: `#${name}`,
      type,
      serviceEndpoint: endpoint,
    })),
  };
}

/**
 * Creates a directory of DIDs. It keeps only the newest operation of each DID, because a single PDS
 * asks for no older one.
 */
function createDirectory() {
  const operations = new Map();
  const answer = async (request, response) => {
    const [did = "", ...rest] = decodeURIComponent(request.url ?? "")
      .split("/")
      .slice(1);
    if (request.method === "POST") {
      operations.set(did, await readJson(request));
      response.end();
      return;
    }
    const operation = operations.get(did);
    if (operation === undefined) {
      response.writeHead(404).end("{}");
      return;
    }
    const views = {
      "": () => toDocument(did, operation),
      data: () => ({ did, ...operation }),
      "log/last": () => operation,
    };
    const view = views[rest.join("/")];
    response.setHeader("content-type", "application/json");
    response.writeHead(view === undefined ? 404 : 200).end(JSON.stringify(view?.() ?? {}));
  };
  return createServer((request, response) => void answer(request, response));
}

const secret = () => randomBytes(32).toString("hex");
const directory = createDirectory();
// The URL has a host name, because the PDS sends no request to an IP address.
const didPlcUrl = `http://localhost:${await listen(directory)}`;
const port = await freePort();
const pds = await PDS.fromEnv({
  devMode: true,
  port,
  hostname: "localhost",
  serviceDid,
  dataDirectory: folder,
  blobstoreDiskLocation: join(folder, "blobs"),
  serviceHandleDomains: [".test"],
  didPlcUrl,
  inviteRequired: false,
  disableSsrfProtection: true,
  rateLimitsEnabled: true,
  blobUploadLimit: 100_000_000,
  jwtSecret: secret(),
  dpopSecret: secret(),
  adminPassword: secret(),
  plcRotationKeyK256PrivateKeyHex: secret(),
});
await pds.start();
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);

async function stop() {
  await pds.destroy();
  directory.close();
  process.exit(0);
}
process.once("SIGTERM", () => void stop());
