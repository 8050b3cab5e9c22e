import { setTimeout as sleep } from "node:timers/promises";
import { WebhookService } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import type { Arguments, Command, Result, Terminal } from "#src/command.ts";
import { CommandFailure } from "#src/failures.ts";
import type { Services } from "#src/services.ts";

const MAX_ROUNDS = 20;
const ROUND_PAUSE_MS = 500;

interface Round {
  readonly resealed: number;
  readonly unreadable: number;
  readonly remaining: number;
}

/** Goes through all signing secrets one time, page by page, to encrypt them with the newest key. */
async function resealOnce(services: Services, { note }: Terminal, before: number): Promise<Round> {
  const client = services.client("delivery", WebhookService);
  let [resealed, unreadable] = [before, 0];
  for (let after = ""; ;) {
    const answer = await client.resealWebhookSecrets({ after });
    const remaining = Number(answer.remaining);
    resealed += answer.resealed;
    unreadable += answer.unreadable;
    if (answer.after === "") return { resealed, unreadable, remaining };
    note({
      json: { resealed, remaining },
      text: `${resealed} signing secrets encrypted again, ${remaining} left`,
    });
    ({ after } = answer);
  }
}

async function reseal(services: Services, _args: Arguments, terminal: Terminal): Promise<Result> {
  let resealed = 0;
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const answer = await resealOnce(services, terminal, resealed);
    const { remaining, unreadable } = answer;
    ({ resealed } = answer);
    if (unreadable > 0)
      throw new CommandFailure(
        "secrets_unreadable",
        `${unreadable} signing secrets cannot be decrypted, because their key is missing in HANDLE_KEYS of the delivery service or they were changed in the database; the log of delivery names their subscriptions. Add the key and run the command again, or let the customers rotate these secrets`,
      );
    if (remaining === 0)
      return { json: { resealed }, text: `${resealed} signing secrets encrypted again` };
    // The service skips secrets that other transactions have locked, so the command tries again.
    await sleep(ROUND_PAUSE_MS);
  }
  throw new CommandFailure(
    "not_finished",
    `some signing secrets are left after ${MAX_ROUNDS} rounds; run the command again when all processes of delivery use the newest key`,
  );
}

export const webhookCommands: readonly Command[] = [
  {
    words: "webhooks reseal",
    synopsis: "",
    summary:
      "encrypt the signing secrets of all webhooks with the newest key in HANDLE_KEYS, after which older keys are not needed for them",
    run: reseal,
  },
];
