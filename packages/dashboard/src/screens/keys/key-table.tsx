import type { DashboardApiKey } from "@postrider/rest/dashboard/api-key-schemas";
import { useState } from "react";
import { Button } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { Table } from "../../kit/table.tsx";
import { Time } from "../../kit/time.tsx";
import { useNow } from "../../time/use-now.ts";
import { useWords } from "../../words/use-words.ts";
import { keysWords } from "./keys-words.ts";
import css from "./keys.module.css";
import { RevokeKey } from "./revoke-key.tsx";
import { toTags } from "./scopes.ts";

/** A key that ends earlier than in a week stands out. */
const SOON_HOURS = 7 * 24;

export function KeyTable({ keys }: { readonly keys: readonly DashboardApiKey[] }) {
  const words = useWords(keysWords);
  const [revoked, setRevoked] = useState<DashboardApiKey>();
  return (
    <>
      <Table label={words.title}>
        <thead>
          <tr>
            <th scope="col">{words.key}</th>
            <th scope="col" className="not-s">
              {words.allows}
            </th>
            <th scope="col">{words.lastUsed}</th>
            <th scope="col" className="not-s">
              {words.ends}
            </th>
            <th scope="col">
              <span className="sr">{words.revoke}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow key={key.id} apiKey={key} onRevoke={() => setRevoked(key)} />
          ))}
        </tbody>
      </Table>
      {revoked && <RevokeKey apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

interface KeyRowProps {
  readonly apiKey: DashboardApiKey;
  readonly onRevoke: () => void;
}

function KeyRow({ apiKey, onRevoke }: KeyRowProps) {
  const words = useWords(keysWords);
  const { name, prefix, scopes, lastUsedAt, isShared, isRevocable } = apiKey;
  return (
    <tr>
      <td>
        <b className="sm">{name}</b>
        {isShared && <span className="xs muted"> {words.shared}</span>}
        <br />
        <code className="muted xs">{prefix}…</code>
      </td>
      <td className="not-s">
        <span className={css.tags}>
          {toTags(scopes, words).map((tag) => (
            <span key={tag} className="tag mono">
              {tag}
            </span>
          ))}
        </span>
      </td>
      <td className={css.used}>
        {lastUsedAt === null ? (
          <span className="muted">{words.never}</span>
        ) : (
          <Time at={lastUsedAt} />
        )}
      </td>
      <td className="not-s">
        <End at={apiKey.expiresAt} />
      </td>
      <td className="end">
        {isRevocable ? (
          <Button kind="ghost" small onClick={onRevoke}>
            {words.revoke}
          </Button>
        ) : (
          <span className="xs muted">{words.notRevocable}</span>
        )}
      </td>
    </tr>
  );
}

function End({ at }: { readonly at: string | null }) {
  const words = useWords(keysWords);
  const now = useNow();
  if (at === null) return words.never;
  const left = now.until(Temporal.Instant.from(at)).total("hours");
  return (
    <span className={classNames(left < SOON_HOURS && css.soon)}>
      <Time at={at} show="day" />
    </span>
  );
}
