import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  MoveAccountRequest,
  MoveAccountResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import type { TransactionSql } from "@postrider/shared/postgres";
import { lockAccount, type AccountKey } from "#src/db/accounts.ts";
import { lockCredential, replaceTokens, setExternalId } from "#src/db/moved-accounts.ts";
import { placeOfToken, type TokenColumn, type TokenOwner } from "#src/domain/sealed-places.ts";
import { toAccountAudit } from "#src/operations/audit-records.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { sealAt, unsealToken } from "#src/operations/token-sealing.ts";
import { toAccountKey } from "#src/rpc/to-account-key.ts";

type Deps = Pick<Dependencies, "sql" | "logger" | "credentialKeys">;

interface Move {
  readonly from: string;
  readonly to: string;
}

/** Tokens are bound to the id of the account on its platform. */
async function bindToNewId(
  deps: Pick<Dependencies, "credentialKeys">,
  tx: TransactionSql,
  owner: Omit<TokenOwner, "attributes">,
  to: string,
): Promise<void> {
  const held = await lockCredential(tx, owner);
  const reseal = (column: TokenColumn, sealed: string | null): string | null => {
    if (sealed === null) return null;
    const token = unsealToken(deps, { ...owner, ...held }, column, sealed);
    const moved = { ...owner, externalId: to, attributes: held.attributes };
    return sealAt(deps, placeOfToken(moved, column), token);
  };
  await replaceTokens(tx, owner, {
    accessToken: reseal("access_token", held.accessToken),
    refreshToken: reseal("refresh_token", held.refreshToken),
  });
}

async function move(
  deps: Deps,
  tx: TransactionSql,
  key: AccountKey,
  { from, to }: Move,
): Promise<void> {
  const account = await lockAccount(tx, key);
  if (account === undefined) throw notFound();
  // The account was moved or disconnected meanwhile.
  if (account.externalId !== from || account.status === "disconnected") return;
  if (!(await setExternalId(tx, key, to))) {
    deps.logger.warn(
      { accountId: key.accountId },
      "the platform gave an account a new id, with which the workspace already has another account; disconnect one of the two",
    );
    return;
  }
  const { platform } = account;
  await bindToNewId(deps, tx, { ...key, platform, externalId: from }, to);
  const details = { platform, before: from, after: to };
  await appendAudit(tx, [toAccountAudit("account.move", key, details)]);
}

/**
 * Stores the new id of an account on its platform, for example of a Telegram group that has become
 * a supergroup. Everything is stored in one transaction, so the tokens always fit the id.
 */
export async function moveAccount(
  deps: Deps,
  { ref, fromExternalId: from, toExternalId: to }: MoveAccountRequest,
): Promise<MessageInitShape<typeof MoveAccountResponseSchema>> {
  const key = toAccountKey(ref);
  if (key === undefined) throw notFound();
  if (to === "") throw invalidRequest([{ code: "required", path: "/toExternalId" }]);
  await deps.sql.begin((tx) => move(deps, tx, key, { from, to }));
  return {};
}
