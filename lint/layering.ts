import { relative, resolve, sep } from "node:path";
import type { RuleTester } from "oxlint/plugins-dev";
import { commentWidth } from "./comment-width.ts";
import { layeringFault, placeFault } from "./layers.ts";

// oxlint does not export its rule types, so this type is taken from a parameter of oxlint's rule tester.
type Rule = Parameters<RuleTester["run"]>[1];
type RuleContext = Parameters<NonNullable<Rule["create"]>>[0];
type RuleNode = Parameters<NonNullable<Visitor["ImportDeclaration"]>>[0];
type Range = { range: [number, number] };
type Visitor = ReturnType<NonNullable<Rule["create"]>>;

const root = resolve(import.meta.dirname, "..");

/**
 * A lint rule that reports each import that the layers of the code do not permit, and each file in
 * a folder that is not a layer. layers.ts defines the layers.
 */
export const layering: Rule = {
  meta: { type: "problem", docs: { description: "Keep the layers of a service apart." } },
  create(context) {
    return {
      Program: (node) => {
        const message = placeFault(pathOf(context));
        if (message !== undefined) context.report({ node, message });
      },
      ImportDeclaration: (node) => check(context, node, node.source.value, isTypeOnly(node)),
      ExportNamedDeclaration: (node) => {
        if (node.source) check(context, node, node.source.value, node.exportKind === "type");
      },
      ExportAllDeclaration: (node) =>
        check(context, node, node.source.value, node.exportKind === "type"),
      ImportExpression: (node) => {
        if (node.source.type === "Literal" && typeof node.source.value === "string")
          check(context, node, node.source.value, false);
      },
    };
  },
};

function isTypeOnly(node: RuleNode): boolean {
  if (node.importKind === "type") return true;
  const kinds = node.specifiers.map((specifier) =>
    specifier.type === "ImportSpecifier" ? specifier.importKind : "value",
  );
  return kinds.length > 0 && kinds.every((kind) => kind === "type");
}

function check(context: RuleContext, at: Range, specifier: string, typeOnly: boolean): void {
  const message = layeringFault({ file: pathOf(context), specifier, typeOnly });
  if (message !== undefined) context.report({ node: at, message });
}

function pathOf({ filename }: RuleContext): string {
  return relative(root, filename).split(sep).join("/");
}

const plugin = { meta: { name: "postrider" }, rules: { layering, "comment-width": commentWidth } };

/** oxlint loads a plugin by its default export. */
export default plugin;
