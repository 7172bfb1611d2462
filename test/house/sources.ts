import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import ts from "typescript";

export interface Import {
  /** The file that is imported, from the project's folder. */
  to: string;
  /** Names as they are exported there; "*" for all of it. */
  names: readonly string[];
}

export interface FunctionSize {
  name: string;
  lines: number;
}

/** A source file, as far as its place in the house goes. */
export interface SourceFile {
  /** From the project's folder. */
  path: string;
  lines: number;
  imports: readonly Import[];
  /** Names that others can import. */
  exports: readonly string[];
  interfaces: readonly string[];
  /** Interfaces that its classes implement, by name. */
  implemented: readonly string[];
  functions: readonly FunctionSize[];
}

const GENERATED = /(^|\/)gen\//;

/** All TypeScript below these folders that somebody wrote. */
export function readSources(project: string, roots: readonly string[]): SourceFile[] {
  return sourcePaths(project, roots).map((path) => readSource(project, path));
}

/** Where that TypeScript is, from the project's folder. */
export function sourcePaths(project: string, roots: readonly string[]): string[] {
  return roots
    .flatMap((root) => filesBelow(join(project, root)))
    .map((file) => relative(project, file))
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".d.ts") && !GENERATED.test(path))
    .sort();
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

function readSource(project: string, path: string): SourceFile {
  const text = readFileSync(join(project, path), "utf8");
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: SourceFile = {
    path,
    lines: text.split("\n").length - 1,
    imports: [...importsOf(tree, path), ...laterImportsOf(tree, path)],
    exports: exportsOf(tree),
    interfaces: tree.statements.filter(ts.isInterfaceDeclaration).map(({ name }) => name.text),
    implemented: tree.statements.filter(ts.isClassDeclaration).flatMap(implementedBy),
    functions: functionsOf(tree),
  };
  return found;
}

/** Lines of a source file without comments and empty ones: those on which a token stands. */
export function countCodeLines(project: string, path: string): number {
  const text = readFileSync(join(project, path), "utf8");
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(tree);
    if (children.length > 0) return children.forEach(visit);
    const [start, end] = [node.getStart(tree, false), node.getEnd()];
    if (end <= start) return;
    const first = tree.getLineAndCharacterOfPosition(start).line;
    const last = tree.getLineAndCharacterOfPosition(end).line;
    const rows = text.slice(start, end).split("\n");
    for (let line = first; line <= last; line += 1) {
      if (rows[line - first]?.trim() !== "") lines.add(line);
    }
  };
  visit(tree);
  return lines.size;
}

function importsOf(tree: ts.SourceFile, path: string): Import[] {
  return tree.statements.flatMap((statement): Import[] => {
    const isFrom = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
    if (!isFrom || statement.moduleSpecifier === undefined) return [];
    const to = targetOf(statement.moduleSpecifier, path);
    return to === undefined ? [] : [{ to, names: namesOf(statement) }];
  });
}

/** What is loaded when it is needed, with `import("./it.ts")`: all of the file counts as used. */
function laterImportsOf(tree: ts.SourceFile, path: string): Import[] {
  const found: Import[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const to = targetOf(node.arguments[0], path);
      if (to !== undefined) found.push({ to, names: ["*"] });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** The file of the project that is named; undefined for packages and for what is worked out. */
function targetOf(specifier: ts.Node | undefined, path: string): string | undefined {
  if (specifier === undefined || !ts.isStringLiteral(specifier)) return undefined;
  if (!specifier.text.startsWith(".")) return undefined;
  return relative(resolve("."), resolve(dirname(path), specifier.text));
}

function namesOf(statement: ts.ImportDeclaration | ts.ExportDeclaration): string[] {
  const named = ts.isImportDeclaration(statement)
    ? statement.importClause?.namedBindings
    : statement.exportClause;
  if (named === undefined || !("elements" in named)) return ["*"];
  return named.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

function exportsOf(tree: ts.SourceFile): string[] {
  return tree.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => name.getText(tree));
    }
    const { name } = statement as ts.DeclarationStatement;
    return name === undefined ? [] : [name.getText(tree)];
  });
}

function implementedBy({ heritageClauses = ts.factory.createNodeArray() }: ts.ClassDeclaration) {
  return heritageClauses
    .filter(({ token }) => token === ts.SyntaxKind.ImplementsKeyword)
    .flatMap(({ types }) => types.map(({ expression }) => expression.getText()));
}

function functionsOf(tree: ts.SourceFile): FunctionSize[] {
  const found: FunctionSize[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const [from, to] = [node.getStart(tree), node.getEnd()].map(
        (at) => tree.getLineAndCharacterOfPosition(at).line,
      );
      const name = node.name?.getText(tree) ?? "";
      found.push({ name, lines: (to ?? 0) - (from ?? 0) + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** The name of a file without its ending. */
export function stemOf(path: string): string {
  return basename(path, ".ts");
}
