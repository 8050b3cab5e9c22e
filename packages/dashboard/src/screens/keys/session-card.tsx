import type { DashboardSession } from "@postrider/rest/dashboard/session-schemas";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Table } from "../../kit/table.tsx";
import { Time } from "../../kit/time.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useSession } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { keysApi } from "./keys-api.ts";
import { keysWords } from "./keys-words.ts";
import { isWithin } from "./scopes.ts";

/** The browsers that are logged in to this workspace. */
export function SessionCard() {
  const words = useWords(keysWords);
  const { scopes } = useSession();
  const { data, error, isPending, refetch } = useQuery(keysApi.sessions());
  const ending = useMutation({
    mutationFn: keysApi.endSessions,
    onSuccess: (_, { length }) => showToast(length === 1 ? words.ended : words.allEnded(length)),
  });
  const sessions = data?.sessions ?? [];
  const mayEnd = (session: DashboardSession) =>
    !session.isCurrent && isWithin(scopes, session.scopes);
  const others = sessions.filter(mayEnd).map(({ id }) => id);
  const endAll = (
    <Button kind="danger" small busy={ending.isPending} onClick={() => ending.mutate(others)}>
      {words.endAll}
    </Button>
  );
  const failure = error ?? ending.error;
  return (
    <Card title={words.sessions} actions={others.length > 0 && endAll}>
      {isPending && <Skeleton rows={2} />}
      {failure !== null && <ErrorNotice error={failure} onRetry={() => void refetch()} />}
      {data !== undefined && (
        <Table label={words.sessions}>
          <thead className="not-s">
            <tr>
              <th scope="col">{words.browser}</th>
              <th scope="col">{words.since}</th>
              <th scope="col">{words.lastSeen}</th>
              <th scope="col">
                <span className="sr">{words.end}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sessions.map((session) => (
              <SessionRow
                key={session.id}
                session={session}
                onEnd={mayEnd(session) ? () => ending.mutate([session.id]) : undefined}
              />
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  );
}

interface SessionRowProps {
  readonly session: DashboardSession;
  readonly onEnd: (() => void) | undefined;
}

function SessionRow({ session, onEnd }: SessionRowProps) {
  const words = useWords(keysWords);
  const { userAgent, isCurrent, key, createdAt, lastSeenAt } = session;
  return (
    <tr>
      <td>
        <b className="sm">{userAgent ?? words.unknownBrowser}</b>{" "}
        {isCurrent && <span className="tag">{words.thisOne}</span>}
        <br />
        <span className="muted xs">{key === null ? words.byLink : words.byKey(key.prefix)}</span>
        <div className="muted xs only-s">
          <Time at={lastSeenAt} />
        </div>
      </td>
      <td className="muted not-s">
        <Time at={createdAt} />
      </td>
      <td className="muted not-s">
        <Time at={lastSeenAt} />
      </td>
      <td className="end">
        {onEnd && (
          <Button kind="ghost" small onClick={onEnd}>
            {words.end}
          </Button>
        )}
      </td>
    </tr>
  );
}
