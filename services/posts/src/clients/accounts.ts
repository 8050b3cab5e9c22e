import type { Client } from "@connectrpc/connect";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { isPlatformId } from "@postrider/platforms/registry";
import { newId } from "@postrider/shared/ids";
import {
  findContext,
  runInContext,
  type RequestContext,
} from "@postrider/shared/telemetry/request-context";
import type { PostAccount } from "#src/domain/post.ts";

/** Looks accounts up by id; accounts that a workspace cannot post to, whyever, are missing. */
export interface AccountDirectory {
  findAccounts(
    workspaceId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, PostAccount>>;
}

interface Question {
  readonly workspaceId: string;
  readonly ids: readonly string[];
  readonly context: RequestContext | undefined;
  readonly resolve: (accounts: ReadonlyMap<string, PostAccount>) => void;
  readonly reject: (error: unknown) => void;
}

/** How long the first question waits for others: the hop costs more CPU than anything else in accepting a post. */
const TICK_MS = 1;
const MAX_REFS = 1000;

/** Asks the accounts service, all questions of about a millisecond in one call. */
export function createAccountDirectory(client: Client<typeof AccountService>): AccountDirectory {
  let waiting: Question[] = [];
  const flush = (): void => {
    const questions = waiting;
    waiting = [];
    if (questions.length > 0)
      runInContext(contextOf(questions), () => void answer(client, questions));
  };
  return {
    findAccounts: (workspaceId, ids) => {
      const { promise, resolve, reject } =
        Promise.withResolvers<ReadonlyMap<string, PostAccount>>();
      const count = waiting.reduce((sum, question) => sum + question.ids.length, ids.length);
      if (count > MAX_REFS) flush();
      if (waiting.length === 0) setTimeout(flush, TICK_MS);
      waiting.push({ workspaceId, ids, context: findContext(), resolve, reject });
      return promise;
    },
  };
}

/** A call for several requests is part of none of them: no one's deadline or ids count for the others. */
function contextOf([first, ...others]: readonly Question[]): RequestContext {
  const alone = others.length === 0 ? first?.context : undefined;
  return alone ?? { requestId: newId() };
}

async function answer(
  client: Client<typeof AccountService>,
  questions: readonly Question[],
): Promise<void> {
  const refs = questions.flatMap(({ workspaceId, ids }) =>
    ids.map((accountId) => ({ workspaceId, accountId })),
  );
  try {
    const { accounts } = await client.batchGetAccounts({ refs });
    const found = new Map(
      accounts.map((account) => [`${account.workspaceId} ${account.id}`, account]),
    );
    for (const question of questions) question.resolve(answerOf(question, found));
  } catch (error) {
    for (const question of questions) question.reject(error);
  }
}

function answerOf(
  { workspaceId, ids }: Question,
  found: ReadonlyMap<string, Account>,
): ReadonlyMap<string, PostAccount> {
  const accounts = ids.flatMap((id) => toPostAccount(found.get(`${workspaceId} ${id}`)) ?? []);
  return new Map(accounts.map((account) => [account.id, account]));
}

function toPostAccount(account: Account | undefined): PostAccount | undefined {
  if (account === undefined || !isPlatformId(account.platform)) return undefined;
  const { id, platform, username, status } = account;
  if (status !== "active" && status !== "reconnect_required") return undefined;
  return { id, platform, username, status };
}
