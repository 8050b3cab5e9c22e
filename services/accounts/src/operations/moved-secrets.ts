import type { TransactionSql } from "@postrider/shared/postgres";
import { cellOfPrefix } from "@postrider/shared/secrets/api-keys";
import type {
  SecretPage,
  SecretTransferOptions,
} from "@postrider/shared/workspaces/secret-transfer";
import {
  insertMovedKeys,
  listImportedOwners,
  listMovedCredentials,
  listMovedKeys,
  type MovedCredential,
  type MovedKey,
  writeMovedCredentials,
} from "#src/db/moved-secrets.ts";
import { isFrozen } from "#src/db/workspace-moves.ts";
import type { TokenOwner } from "#src/domain/sealed-places.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { sealToken, unsealToken } from "#src/operations/token-sealing.ts";

type Deps = Pick<Dependencies, "sql" | "cell" | "credentialKeys">;

/** What goes to the other cell: hashes of API keys, and tokens in the clear. */
interface MovedSecrets {
  /** On the first page. */
  readonly keys: readonly MovedKey[];
  readonly credentials: readonly Omit<MovedCredential, "platform" | "externalId">[];
}

const PAGE_ACCOUNTS = 200;

function ownerOf(
  workspaceId: string,
  {
    accountId,
    platform,
    externalId,
  }: Pick<MovedCredential, "accountId" | "platform" | "externalId">,
  attributes: MovedCredential["attributes"],
): TokenOwner {
  return { workspaceId, accountId, platform, externalId, attributes };
}

async function read(deps: Deps, workspaceId: string, after: string): Promise<SecretPage> {
  const place = { after: after === "" ? null : after, limit: PAGE_ACCOUNTS };
  const page = await listMovedCredentials(deps.sql, workspaceId, place);
  const credentials = page.map(({ platform, externalId, ...credential }) => {
    const { accountId, accessToken, refreshToken, attributes } = credential;
    const owner = ownerOf(workspaceId, { accountId, platform, externalId }, attributes);
    return {
      ...credential,
      accessToken: unsealToken(deps, owner, "access_token", accessToken),
      refreshToken:
        refreshToken === null ? null : unsealToken(deps, owner, "refresh_token", refreshToken),
    };
  });
  const keys = after === "" ? await listMovedKeys(deps.sql, workspaceId) : [];
  const content: MovedSecrets = { keys, credentials };
  return { content, next: page.length < PAGE_ACCOUNTS ? undefined : page.at(-1)?.accountId };
}

async function write(
  deps: Deps,
  tx: TransactionSql,
  { workspaceId, content }: { readonly workspaceId: string; readonly content: MovedSecrets },
): Promise<void> {
  const { keys, credentials } = content;
  const withCell = keys.map((key) => {
    const cell = cellOfPrefix(key.prefix);
    // A workspace that comes back has keys of this cell.
    return { ...key, importedFrom: cell === undefined || cell === deps.cell ? null : cell };
  });
  await insertMovedKeys(tx, workspaceId, withCell);
  const ids = credentials.map(({ accountId }) => accountId);
  const owners = new Map(
    (await listImportedOwners(tx, workspaceId, ids)).map((owner) => [owner.accountId, owner]),
  );
  const sealed = credentials.flatMap((credential) => {
    const found = owners.get(credential.accountId);
    if (found === undefined) return [];
    const { accessToken, refreshToken, attributes } = credential;
    const owner = ownerOf(workspaceId, found, attributes);
    return [
      {
        ...credential,
        accessToken: sealToken(deps, owner, "access_token", accessToken),
        refreshToken:
          refreshToken === null ? null : sealToken(deps, owner, "refresh_token", refreshToken),
      },
    ];
  });
  await writeMovedCredentials(tx, workspaceId, sealed);
}

/** API keys and tokens go with a workspace, so that its clients and accounts need nothing new. */
export function movedSecrets(deps: Deps): SecretTransferOptions {
  return {
    sql: deps.sql,
    keys: deps.credentialKeys,
    isFrozen,
    read: (workspaceId, after) => read(deps, workspaceId, after),
    write: (tx, workspaceId, content) =>
      write(deps, tx, { workspaceId, content: content as MovedSecrets }),
  };
}
