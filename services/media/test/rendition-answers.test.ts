import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { afterAll, expect, test } from "vitest";
import { findMedia } from "#src/db/media.ts";
import type { RenderImages } from "#src/domain/rendition-plan.ts";
import { Renditions } from "#src/operations/renditions.ts";
import { startMedia } from "./media-fixture.ts";
import { picture } from "./sample-pictures.ts";
import { createGrant, upload } from "./upload-client.ts";

const PLAN = {
  contentType: "image/jpeg",
  width: 6,
  height: 4,
  fit: "scale",
  maxBytes: 100_000,
} as const;
const MADE = { contentType: PLAN.contentType, width: 6, height: 4, bytes: 3 };

const service = await startMedia();
afterAll(() => service[Symbol.asyncDispose]());

async function readyMedia() {
  const workspaceId = newId();
  const body = await picture({ width: 12, height: 8 }).png().toBuffer();
  const grant = await createGrant(service, body.length, { contentType: "image/png", workspaceId });
  await upload(service, grant, body);
  await service.complete(grant);
  const media = await findMedia(service.sql, workspaceId, grant.id);
  if (media === undefined) throw new Error("the uploaded media are not found");
  return media;
}

/**
 * Returns a pool whose connection breaks after the result of a rendition was stored and before the
 * answer arrives.
 */
function losingAnswers(sql: Sql): Sql {
  return new Proxy(sql, {
    apply(target, self, values: [TemplateStringsArray | object]) {
      const query = Reflect.apply(target, self, values) as PromiseLike<unknown>;
      const [text] = values;
      const isResult =
        Array.isArray(text) && text.some((part) => String(part).includes("set status = 'made'"));
      if (!isResult) return query;
      return (async () => {
        await query;
        throw new Error("the connection was lost");
      })();
    },
  });
}

const renderThreeBytes: RenderImages = async ({ receive }) => {
  // oxlint-disable-next-line eslint/require-await -- a stream of one piece
  const content = async function* () {
    yield Buffer.from("abc");
  };
  await receive(0, MADE, content());
  return { kind: "rendered", outcomes: [{ kind: "made", ...MADE }] };
};

test("the file of a rendition is kept when the database stored the rendition's row but the connection broke before it answered", async () => {
  const media = await readyMedia();
  const { sql, store } = service;
  const logger = createLogger({ service: "test", level: "silent" });
  await using renditions = new Renditions({
    sql: losingAnswers(sql),
    store,
    render: renderThreeBytes,
    leaseMs: 30_000,
    logger,
  });
  const prepare = () => renditions.prepare(media, [PLAN], performance.now() + 10_000);
  await expect(prepare()).rejects.toMatchObject({ reason: "unavailable" });

  const [made] = [...(await prepare()).values()];
  if (made?.kind !== "made") throw new Error("the rendition was not made");
  expect(await store.stat(made.objectKey)).toMatchObject({ bytes: 3 });
});
