"""What a search works on (functions and their ridges), and what it leaves behind (journals and fits)."""
