export declare const OLDEST_NODE: string;
export declare function onRightNode(start: () => Promise<unknown>): void;
export declare function nodeProblem(version: string): string;
