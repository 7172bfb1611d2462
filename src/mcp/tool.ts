import type { Static, TObject } from "@sinclair/typebox";
import type { Principal } from "../access/principal.ts";
import type { RouteCall } from "../rest/route.ts";

/** For whom a tool is called, and how it reaches the interface in their name. */
export interface ToolCaller {
  principal: Principal;
  call: RouteCall;
}

/** What a tool found: for programs by its output schema, and in lines for a model to read. */
interface ToolAnswer<O> {
  found: O;
  lines: readonly string[];
}

/** A tool that reads. */
export interface Tool {
  name: string;
  /** For people. */
  title: string;
  /** For models. */
  description: string;
  input: TObject;
  output: TObject;
  /** `given` was checked by `input`. Rejects with the errors of the routes that it calls. */
  run(given: unknown, caller: ToolCaller): Promise<ToolAnswer<Record<string, unknown>>>;
}

interface TypedTool<I extends TObject, O extends TObject>
  extends Omit<Tool, "input" | "output" | "run"> {
  input: I;
  output: O;
  run(given: Static<I>, caller: ToolCaller): Promise<ToolAnswer<Static<O>>>;
}

/** Derives the types of a tool from its schemas; adds nothing at run time. */
export function defineTool<I extends TObject, O extends TObject>(tool: TypedTool<I, O>): Tool {
  return tool as unknown as Tool;
}
