import type { CreatedDashboardApiKey } from "@postrider/rest/dashboard/api-key-schemas";
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { EmptyState, Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Page } from "../../kit/page.tsx";
import { useSession } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { KeyTable } from "./key-table.tsx";
import { keysApi } from "./keys-api.ts";
import { keysWords } from "./keys-words.ts";
import css from "./keys.module.css";
import { MadeKey } from "./made-key.tsx";
import { NewKey } from "./new-key.tsx";
import { DRAFTS_ONLY } from "./scopes.ts";
import { SessionCard } from "./session-card.tsx";

/** What programs and browsers may use this workspace. */
export function KeysScreen() {
  const words = useWords(keysWords);
  const [isNew, setNew] = useState(false);
  const [made, setMade] = useState<CreatedDashboardApiKey>();
  const mayChange = !useSession().scopes.includes(DRAFTS_ONLY);
  const button = (
    <Button kind="primary" icon={Plus} onClick={() => setNew(true)}>
      {words.newKey}
    </Button>
  );
  return (
    <Page title={words.title} actions={mayChange && button} className={css.page}>
      {!mayChange && <p className="sm muted">{words.mayNot}</p>}
      <KeyCard />
      <SessionCard />
      {isNew && (
        <NewKey
          onClose={() => setNew(false)}
          onMade={(key) => {
            setNew(false);
            setMade(key);
          }}
        />
      )}
      {made && <MadeKey made={made} onDone={() => setMade(undefined)} />}
    </Page>
  );
}

function KeyCard() {
  const words = useWords(keysWords);
  const { data, error, isPending, refetch } = useQuery(keysApi.keys());
  const hasKeys = data !== undefined && data.keys.length > 0;
  return (
    <Card footer={hasKeys && words.foot}>
      {isPending && <Skeleton rows={4} />}
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data?.keys.length === 0 && <EmptyState title={words.none}>{words.noneHint}</EmptyState>}
      {hasKeys && <KeyTable keys={data.keys} />}
    </Card>
  );
}
