import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";
import { sourcePaths } from "./sources.ts";

/**
 * What a newcomer meets of the sources in `roots`, one in a line: `PATH file STEM`, `PATH export NAME`, `PATH member
 * CLASS.NAME` of what exported classes and interfaces show, and `PATH text SENTENCE` for what is logged, answered or
 * printed (strings of more than one word that are no SQL).
 */
export function declarationsBelow(project: string, roots: readonly string[]): string[] {
  return sourcePaths(project, roots).flatMap((path) =>
    declarationsOf(path, readFileSync(join(project, path), "utf8")),
  );
}

/** The same of one file with this text. */
export function declarationsOf(path: string, text: string): string[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  return [
    `${path} file ${basename(path).replace(/\.tsx?$/, "")}`,
    ...tree.statements.filter(isExported).flatMap((each) => namesIn(each, path, tree)),
    ...textsOf(tree).map((sentence) => `${path} text ${sentence}`),
  ];
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function namesIn(statement: ts.Statement, path: string, tree: ts.SourceFile): string[] {
  if (ts.isVariableStatement(statement)) {
    const { declarations } = statement.declarationList;
    return declarations.map(({ name }) => `${path} export ${name.getText(tree)}`);
  }
  const name = (statement as ts.DeclarationStatement).name?.getText(tree) ?? "default";
  const members =
    ts.isClassDeclaration(statement) || ts.isInterfaceDeclaration(statement)
      ? statement.members.flatMap((member) => member.name?.getText(tree) ?? [])
      : [];
  return [
    `${path} export ${name}`,
    ...members
      .filter((member) => !member.startsWith("#"))
      .map((member) => `${path} member ${name}.${member}`),
  ];
}

function textsOf(tree: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node)) return;
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
    if (isText && node.getText(tree).includes(" ")) {
      found.push(node.getText(tree).slice(1, -1).replaceAll(/\s+/g, " "));
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}
