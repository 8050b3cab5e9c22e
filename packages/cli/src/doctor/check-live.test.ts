import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { AccountSchema } from "@postrider/contracts/accounts/v1/account_pb";
import {
  DoctorService,
  type GetLiveCheckResponse,
  type LiveCheckStepSchema,
} from "@postrider/contracts/delivery/v1/doctor_service_pb";
import { unavailable } from "@postrider/shared/errors";
import { createTestPeer } from "@postrider/shared/testing/router";
import { expect, test } from "vitest";
import { checkLive } from "./check-live.ts";

type Step = MessageInitShape<typeof LiveCheckStepSchema>;
/** A response with the state of a live check, or no response. */
type State =
  | "no answer"
  | Partial<
      Pick<GetLiveCheckResponse, "externalId" | "permalink" | "mayBeLeft" | "text" | "endedAt">
    >;

const ID = "01936a5e-0000-7000-8000-0000a1b2c3d4";
const account = create(AccountSchema, { id: ID, platform: "x", username: "sailor" });
const PREPARED: Step = { name: "prepare", status: "ok", found: "done" };
const PATIENCE = { pollMs: 1, silenceMs: 60_000 };

/**
 * Prepares a live check for which delivery returns these states, one per request, and then no
 * answer.
 */
function checkLiveWith(
  states: readonly State[],
  { steps = [PREPARED], patience = PATIENCE }: { steps?: Step[]; patience?: typeof PATIENCE } = {},
) {
  const left = [...states];
  const notes: string[] = [];
  const delivery = createTestPeer((router) => {
    router.service(DoctorService, {
      startLiveCheck: () => ({ id: ID }),
      getLiveCheck: () => {
        const next = left.shift() ?? "no answer";
        if (next === "no answer") throw unavailable();
        return { ...next, steps };
      },
    });
  });
  const services = { client: () => delivery.client(DoctorService) } as never;
  const terminal = {
    note: ({ text }: { readonly text: string }) => void notes.push(text),
    writeLine: () => Promise.resolve(),
    readLine: () => Promise.resolve(""),
  };
  const args = { positionals: [ID], values: { live: true, yes: true, public: true } };
  return { run: () => checkLive(services, args, terminal, account, patience), notes };
}

/**
 * Runs a live check for which the delivery service answers only the first request for its state.
 */
async function checkAndLose(state: State): Promise<unknown> {
  const { run } = checkLiveWith([state], { patience: { pollMs: 1, silenceMs: 50 } });
  return await run().catch((error: unknown) => error);
}

test("`doctor account --live` names the post that is left, with its address, when it can no longer read the state of the live check", async () => {
  const state = { externalId: "77", permalink: "https://x.com/sailor/status/77" };
  expect(await checkAndLose(state)).toMatchObject({
    code: "live_check_lost",
    message: expect.stringContaining(
      "the post 77 (https://x.com/sailor/status/77) is left on x: delete it by hand",
    ) as string,
  });
});

test("`doctor account --live` names the text to look for on the platform if it loses the state of a live check whose publishing call had begun", async () => {
  const state = { mayBeLeft: true, text: "Postrider check 1" };
  expect(await checkAndLose(state)).toMatchObject({
    message: expect.stringContaining(
      "a post may be left on x: look for “Postrider check 1”",
    ) as string,
  });
});

test("a live check goes on when delivery answers again after a restart", async () => {
  const states: State[] = [{}, "no answer", "no answer", { endedAt: timestampNow() }];
  const { run, notes } = checkLiveWith(states);
  expect(await run()).toMatchObject({ exitCode: 0 });
  expect(notes).toEqual([
    "ok       prepare: done",
    expect.stringContaining("delivery does not answer; when it does") as string,
  ]);
});

const END = { endedAt: timestampNow(), text: "Postrider check 1" };

test.each<[string, string, number, string]>([
  ["ok", "nothing is left on x", 0, "2 steps: 0 failed, 0 warnings"],
  [
    "warning",
    "a post may be left on x: look for “Postrider check 1”",
    0,
    "2 steps: 0 failed, 1 warning",
  ],
  [
    "failed",
    "a post may be left on x: look for “Postrider check 1”",
    1,
    "2 steps: 1 failed, 0 warnings",
  ],
])(
  "a live check whose deletion ends with %s says “%s” and has the exit code %i",
  async (status, rest, exitCode, counts) => {
    const steps = [PREPARED, { name: "delete it", status, found: "done" }];
    const { run } = checkLiveWith([{ ...END, mayBeLeft: status !== "ok" }], { steps });
    const result = await run();
    expect(result.exitCode).toBe(exitCode);
    expect(result.text).toContain(`${counts}; ${rest}`);
  },
);

test("a live check whose preparation failed says that nothing is left", async () => {
  const steps = [{ name: "prepare", status: "failed", found: "media_rejected" }];
  const { run } = checkLiveWith([END], { steps });
  const { text, exitCode } = await run();
  expect(text).toContain("1 step: 1 failed, 0 warnings; nothing is left on x");
  expect(exitCode).toBe(1);
});
