import { Archive, CopyX, ListTree } from "lucide-react";
import { Link } from "wouter";
import { Card } from "../../kit/card.tsx";
import { useWords } from "../../words/use-words.ts";
import { startWords } from "./start-words.ts";
import css from "./start.module.css";

/** What Postrider promises, in three sentences. */
export function Promises() {
  const words = useWords(startWords);
  const { lost, twice, why } = words.promises;
  const lines = [
    [Archive, lost],
    [CopyX, twice],
    [ListTree, why],
  ] as const;
  return (
    <aside>
      <Card>
        <div className={css.promises}>
          <h3>{words.rely}</h3>
          <ul>
            {lines.map(([Icon, [title, text]]) => (
              <li key={title}>
                <Icon className="i" aria-hidden="true" />
                <p>
                  <b>{title}</b> {text}
                </p>
              </li>
            ))}
          </ul>
          <p className="muted xs">
            {words.byProgram} <Link href="/keys">{words.makeKey}</Link> ·{" "}
            <a href="/docs">{words.readDocs}</a>
          </p>
        </div>
      </Card>
    </aside>
  );
}
