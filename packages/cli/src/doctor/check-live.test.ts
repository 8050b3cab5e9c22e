import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { AccountSchema } from "@postrider/contracts/accounts/v1/account_pb";
import {
  DoctorService,
  type GetLiveCheckResponse,
} from "@postrider/contracts/delivery/v1/doctor_service_pb";
import { unavailable } from "@postrider/shared/errors";
import { createTestPeer } from "@postrider/shared/testing/router";
import { expect, test } from "vitest";
import { checkLive } from "./check-live.ts";

type State = Partial<Pick<GetLiveCheckResponse, "externalId" | "permalink" | "calledAt" | "text">>;

const ID = "01936a5e-0000-7000-8000-0000a1b2c3d4";
const account = create(AccountSchema, { id: ID, platform: "x", username: "sailor" });

/** Runs a live check whose second request for its state gets no answer from the delivery service. */
async function checkAndLose(state: State): Promise<unknown> {
  const states = [state];
  const delivery = createTestPeer((router) => {
    router.service(DoctorService, {
      startLiveCheck: () => ({ id: ID }),
      getLiveCheck: () => {
        const next = states.shift();
        if (next === undefined) throw unavailable();
        return { ...next, steps: [{ name: "prepare", status: "ok", found: "done" }] };
      },
    });
  });
  const services = { client: () => delivery.client(DoctorService) } as never;
  const terminal = {
    note: () => undefined,
    writeLine: () => Promise.resolve(),
    readLine: () => Promise.resolve(""),
  };
  const args = { positionals: [ID], values: { live: true, yes: true } };
  return await checkLive(services, args, terminal, account).catch((error: unknown) => error);
}

test("a live check that can no longer be followed names the post that is left, with its address", async () => {
  const state = { externalId: "77", permalink: "https://x.com/sailor/status/77" };
  expect(await checkAndLose(state)).toMatchObject({
    code: "live_check_lost",
    message: expect.stringContaining(
      "the post 77 (https://x.com/sailor/status/77) is left on x: delete it by hand",
    ) as string,
  });
});

test("a live check that is lost after its publishing call began names the text to look for", async () => {
  const state = { calledAt: timestampNow(), text: "Postrider check 1" };
  expect(await checkAndLose(state)).toMatchObject({
    message: expect.stringContaining(
      "a post may be left on x: look for “Postrider check 1”",
    ) as string,
  });
});
