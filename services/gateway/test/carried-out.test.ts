import { unavailable } from "@postrider/shared/errors";
import { afterAll, expect, test } from "vitest";
import type { AdmissionResult } from "#src/admission/admission-result.ts";
import { admitted, createTestServer, POST_ID } from "./fixture.ts";

let admission: AdmissionResult = admitted();
const fail = () => {
  throw unavailable();
};
const app = await createTestServer(
  { posts: { updatePost: fail, deletePost: fail, getPost: fail } },
  () => admission,
);
afterAll(() => app.close());

const ask = async (method: "PATCH" | "DELETE", payload?: object) => {
  const answer = await app.inject({
    method,
    url: `/api/v1/posts/${POST_ID}`,
    ...(payload === undefined ? {} : { payload }),
  });
  return [answer.statusCode, answer.headers["x-postrider-carried-out"]];
};

test.each([
  ["while it cannot check the API key", { kind: "unavailable", retryAfterSeconds: 1 }],
  ["while the workspace is being moved", admitted({ isFrozen: true })],
] as const)(
  "a 503 with which the gateway refuses a change %s says that nothing was done",
  async (_when, result) => {
    admission = result;
    expect(await ask("PATCH", { content: "New" })).toEqual([503, "no"]);
    expect(await ask("DELETE")).toEqual([503, "no"]);
  },
);

test("a 503 of a service does not say that nothing was done, because the service may have done it", async () => {
  admission = admitted();
  expect(await ask("PATCH", { content: "New" })).toEqual([503, undefined]);
  expect(await ask("DELETE")).toEqual([503, undefined]);
});
