import { Dialog } from "../kit/dialog.tsx";
import { useCan } from "../session/session-context.ts";
import { type frameEn, frameWords } from "../words/frame-words.ts";
import { useWords } from "../words/use-words.ts";
import css from "./frame.module.css";
import { listItems, type NavigationItem } from "./navigation.ts";

type Line = readonly [keys: readonly string[], words: string];

type Group = readonly [title: string, lines: readonly Line[]];

function listGroups({ keys, items }: typeof frameEn, places: readonly NavigationItem[]): Group[] {
  const goTo = places.flatMap(({ key, name }): readonly Line[] =>
    key === undefined ? [] : [[["G", key.toUpperCase()], keys.goTo(items[name])]],
  );
  const everywhere: Line[] = [
    [["?"], keys.help],
    [["C"], keys.newPost],
    [["U"], keys.undo],
    [["Esc"], keys.close],
  ];
  const lists: Line[] = [
    [["/"], keys.filter],
    [["J", "K"], keys.next],
    [["Enter"], keys.open],
    [["R"], keys.retry],
    [["E"], keys.edit],
    [["M"], keys.move],
  ];
  const composer: Line[] = [
    [["Ctrl", "Enter"], keys.send],
    [["Ctrl", "S"], keys.draft],
    [["Alt", "1…9"], keys.tab],
  ];
  const calendar: Line[] = [
    [["←", "→"], keys.focus],
    [["T"], keys.today],
    [["[", "]"], keys.period],
    [["1", "2", "3"], keys.views],
  ];
  return [
    [keys.everywhere, [...everywhere, ...goTo]],
    [keys.lists, lists],
    [keys.composer, composer],
    [keys.calendar, calendar],
  ];
}

/** All keys, as `?` shows them. */
export function KeyList({ onClose }: { readonly onClose: () => void }) {
  const words = useWords(frameWords);
  const places = listItems(useCan());
  return (
    <Dialog title={words.keys.title} onClose={onClose} wide>
      <div className={css.keys}>
        {listGroups(words, places).map(([title, lines]) => (
          <KeyGroup key={title} title={title} lines={lines} />
        ))}
      </div>
    </Dialog>
  );
}

function KeyGroup({ title, lines }: { readonly title: string; readonly lines: readonly Line[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {lines.map(([keys, words]) => (
          <div key={words}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
