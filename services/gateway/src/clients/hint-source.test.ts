import type { Client } from "@connectrpc/connect";
import type { HintService } from "@postrider/contracts/delivery/v1/hint_service_pb";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { findContext, runInContext } from "@postrider/shared/telemetry/request-context";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { HintSource } from "./hint-source.ts";

type Answer = Awaited<ReturnType<Client<typeof HintService>["waitForHints"]>>;

test("a workspace whose page opens while hints are awaited reads again when the answer arrives, and is asked for from then on", async () => {
  const asked: (readonly string[])[] = [];
  const gaps: (readonly string[])[] = [];
  let answer = Promise.withResolvers<Answer>();
  const give = (cursor: string): void => {
    const given = answer;
    answer = Promise.withResolvers();
    given.resolve({
      $typeName: "postrider.delivery.v1.WaitForHintsResponse",
      cursor,
      hints: [],
      isGap: false,
    });
  };
  // Like the transport between our services, which cannot end a call early.
  const waitForHints = ({ workspaceIds = [] }: { workspaceIds?: string[] }) => {
    asked.push(workspaceIds);
    return answer.promise;
  };
  const source = new HintSource({
    client: { waitForHints },
    logger: createLogger({ service: "gateway", level: "silent" }),
    onHints: () => undefined,
    onGap: (ids) => gaps.push([...ids]),
  });
  source.watch(new Set(["a"]));
  give("c0");
  await eventually(() => expect(asked).toEqual([["a"], ["a"]]));
  source.watch(new Set(["a", "b"]));
  give("c1");
  await eventually(() => expect(asked.at(-1)).toEqual(["a", "b"]));
  expect(gaps.filter((ids) => ids.length > 0)).toEqual([["a"], ["b"]]);
  source.watch(new Set());
  give("c2");
  await source[Symbol.asyncDispose]();
});

test("hints are still asked for when the deadline of the request has passed that opened the first page", async () => {
  const contexts: unknown[] = [];
  const source = new HintSource({
    client: {
      waitForHints: () => {
        contexts.push(findContext());
        return Promise.reject(new Error("not needed"));
      },
    },
    logger: createLogger({ service: "gateway", level: "silent" }),
    onHints: () => undefined,
    onGap: () => undefined,
  });
  runInContext({ requestId: "first", deadlineAt: 0 }, () => source.watch(new Set(["a"])));
  await eventually(() => expect(contexts).toEqual([undefined]));
  await source[Symbol.asyncDispose]();
});
