import { LinkButton } from "../kit/button.tsx";
import { Card } from "../kit/card.tsx";
import { EmptyState } from "../kit/empty-state.tsx";
import { Page } from "../kit/page.tsx";
import { frameWords } from "../words/frame-words.ts";
import { useWords } from "../words/use-words.ts";

export function NotFound() {
  const words = useWords(frameWords);
  return (
    <Page title={words.notFound}>
      <Card>
        <EmptyState
          title={words.notFoundHint}
          action={<LinkButton href="/posts">{words.toPosts}</LinkButton>}
        />
      </Card>
    </Page>
  );
}
