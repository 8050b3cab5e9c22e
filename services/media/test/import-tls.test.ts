import { createServer, type ServerOptions } from "node:https";
import { newId } from "@postrider/shared/ids";
import { selfSignedCertificate } from "@postrider/shared/testing/certificate";
import { listen } from "@postrider/shared/testing/listen";
import { afterAll, expect, test } from "vitest";
import { startHost, startImporter } from "./import-fixture.ts";

const importer = await startImporter();
afterAll(() => importer[Symbol.asyncDispose]());

/** Starts a TLS server at the address of files.example.com. */
async function startTlsHost(options: ServerOptions) {
  const server = createServer(options, (_request, response) => response.end("never read"));
  const listening = await listen(server);
  return { ...listening, url: `https://files.example.com:${listening.port}` };
}

/** Returns why an import from the URL failed, as the caller reads it. */
async function reasonOf(url: string, ca?: string): Promise<unknown> {
  const { media } = importer.startReplica(ca === undefined ? {} : { ca });
  const error: unknown = await media
    .importMedia({ workspaceId: newId(), url: `${url}/a.png` })
    .catch((thrown: unknown) => thrown);
  return error;
}

const NAME = "files.example.com";
const valid = selfSignedCertificate(NAME);
const expired = selfSignedCertificate(NAME, { until: "210101000000Z" });
const foreign = selfSignedCertificate("other.example.com");

test.each([
  ["has expired", expired, "has expired", { trusted: true }],
  ["is for another name", foreign, "is for another name", { trusted: true }],
  ["is self-signed", valid, "is self-signed", { trusted: false }],
] as const)(
  "an import from a server whose certificate %s says so",
  async (_case, { key, certificate }, words, { trusted }) => {
    await using host = await startTlsHost({ key, cert: certificate });

    expect(await reasonOf(host.url, trusted ? certificate : undefined)).toMatchObject({
      reason: "import_failed",
      violations: [
        { code: "download_broken", path: "/url", reason: `the certificate of the server ${words}` },
      ],
    });
  },
);

test("an import by https from a port that speaks http, or only an outdated TLS, says so", async () => {
  await using plain = await startHost((_request, response) => response.end("plain"));
  await using outdated = await startTlsHost({
    key: valid.key,
    cert: valid.certificate,
    minVersion: "TLSv1",
    maxVersion: "TLSv1.1",
    ciphers: "DEFAULT:@SECLEVEL=0",
  });

  for (const url of [plain.url.replace("http:", "https:"), outdated.url])
    expect(await reasonOf(url, valid.certificate)).toMatchObject({
      reason: "import_failed",
      violations: [{ reason: "the server does not speak TLS 1.2 or newer on this port" }],
    });
});
