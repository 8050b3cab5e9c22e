import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "#src/config.ts";
import { selfSignedCertificate } from "#src/testing/certificate.ts";
import { createTestIdentities } from "#src/testing/identities.ts";
import { connectPeer } from "./client.ts";
import { readCertificateFiles, renewCertificate } from "./server-certificate.ts";
import { createServiceServer } from "./server.ts";

const logger = pino({ level: "silent" });
const identities = createTestIdentities();
const first = selfSignedCertificate("localhost");
const second = selfSignedCertificate("localhost");
let folder: string;
let files: { readonly certFile: string; readonly keyFile: string };

function write({ certificate, key }: typeof first): void {
  writeFileSync(files.certFile, certificate);
  writeFileSync(files.keyFile, key);
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-tls-"));
  files = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
  write(first);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function start() {
  const app = await createServiceServer({
    access: identities.accessOf("posts"),
    logger,
    certificate: files,
    routes: (router) => router.service(PostService, { getPost: () => ({ post: { id: "p" } }) }),
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { app, port, [Symbol.asyncDispose]: () => app.close() };
}

/**
 * Calls an RPC over TLS as a caller that trusts the certificate authority `ca`. Returns the id of
 * the post in the answer, or `failed`.
 */
async function call(port: number | undefined, ca: string | undefined): Promise<unknown> {
  const identity = { ...identities.of("gateway"), ca };
  const baseUrl = `https://localhost:${port}`;
  await using peer = connectPeer({ service: "posts", baseUrl, identity });
  return await peer
    .client(PostService)
    .getPost({ id: "p" })
    .then(
      ({ post }) => post?.id,
      () => "failed",
    );
}

test("an RPC over TLS succeeds only if the caller trusts the certificate's authority, and a renewed certificate is loaded without a restart", async () => {
  await using service = await start();
  expect(await call(service.port, first.certificate)).toBe("p");
  expect(await call(service.port, undefined)).toBe("failed");
  expect(await call(service.port, second.certificate)).toBe("failed");
  write(second);
  renewCertificate(service.app.server as unknown as Server, files, logger);
  expect(await call(service.port, second.certificate)).toBe("p");
  writeFileSync(files.certFile, "half a file");
  renewCertificate(service.app.server as unknown as Server, files, logger);
  expect(await call(service.port, second.certificate)).toBe("p");
  write(first);
});

test("the settings of a service must name a TLS certificate file and a TLS key file together", () => {
  const read = (env: Readonly<Record<string, string>>) =>
    loadConfig(env, (reader) => ({ files: readCertificateFiles(reader) })).files;
  expect(read({})).toBeUndefined();
  expect(read({ RPC_TLS_CERT_FILE: "a", RPC_TLS_KEY_FILE: "b" })).toEqual({
    certFile: "a",
    keyFile: "b",
  });
  expect(() => read({ RPC_TLS_CERT_FILE: "a" })).toThrow("need each other");
});
