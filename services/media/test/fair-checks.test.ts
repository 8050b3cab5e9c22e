import { expect, test } from "vitest";
import { noise, png, startMedia } from "./media-fixture.ts";
import { createGrant, upload } from "./upload-client.ts";

test("checks of large files that wait for temporary space do not delay the check of an image", async () => {
  const mayEnd = Promise.withResolvers<void>();
  const bothStarted = Promise.withResolvers<void>();
  let started = 0;
  await using service = await startMedia({
    // Two of the large files in this test reserve all temporary space.
    tempBytes: 128_000,
    inspect: (real) => async (path, declared) => {
      if (declared?.bytes !== 32_000) return await real(path, declared);
      started += 1;
      if (started === 2) bothStarted.resolve();
      await mayEnd.promise;
      return { kind: "unavailable" };
    },
  });
  const uploaded = async (body: Buffer) => {
    const grant = await createGrant(service, body.length);
    await upload(service, grant, body);
    return grant;
  };
  const large = await Promise.all(Array.from({ length: 6 }, () => uploaded(noise(32_000))));
  const image = await uploaded(await png());
  const checks = large.map((grant) => service.complete(grant).catch(() => "failed"));
  await bothStarted.promise;

  expect(await service.complete(image)).toMatchObject({ status: "ready" });
  expect(started).toBe(2);

  mayEnd.resolve();
  await Promise.all(checks);
});
