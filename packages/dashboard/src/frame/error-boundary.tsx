import { Component, type ReactNode } from "react";
import { Button } from "../kit/button.tsx";
import { EmptyState } from "../kit/empty-state.tsx";
import { frameWords } from "../words/frame-words.ts";
import { useWords } from "../words/use-words.ts";

interface State {
  readonly isBroken: boolean;
}

/** Keeps a fault of one screen inside it; another screen, with another `key`, is tried anew. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { isBroken: false };

  static getDerivedStateFromError(): State {
    return { isBroken: true };
  }

  override render(): ReactNode {
    return this.state.isBroken ? <Broken /> : this.props.children;
  }
}

function Broken() {
  const words = useWords(frameWords);
  return (
    <EmptyState
      title={words.broken}
      action={<Button onClick={() => location.reload()}>{words.reload}</Button>}
    >
      {words.brokenHint}
    </EmptyState>
  );
}
