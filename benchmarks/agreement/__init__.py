"""Do two versions of the library find the same models?"""
