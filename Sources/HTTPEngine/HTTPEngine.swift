// HTTPEngine
